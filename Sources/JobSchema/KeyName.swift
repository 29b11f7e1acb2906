/// A name that can be part of a Redis key.
package enum KeyName {
    /// Whether the text has 1 to `count` letters, digits, `_`, `.`, `-` or one of `others`.
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
