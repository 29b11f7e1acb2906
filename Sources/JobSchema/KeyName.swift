/// A name that may be a part of a key in Redis.
package enum KeyName {
    /// Whether the text is 1 to so many letters, digits, `_`, `.`, `-` or others that are named.
    package static func isValid(_ text: String, atMost count: Int = 64, also others: String = "") -> Bool {
        (1...count).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: others.utf8.contains(byte)
                }
            }
    }
}
