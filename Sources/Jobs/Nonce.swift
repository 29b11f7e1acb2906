/// Random names that distinguish calls and owners.
package enum Nonce {
    /// 16 hexadecimal digits.
    package static func random() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
