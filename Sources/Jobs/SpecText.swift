import FoundationEssentials
import JobSchema

/// A job's fields as the JSON that Redis stores.
enum SpecText {
    static func encode(_ fields: [String: String]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(fields.reduce(2) { $0 + $1.key.utf8.count + $1.value.utf8.count + 6 })
        text.append(UInt8(ascii: "{"))
        for (name, value) in fields {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            append(name, to: &text)
            text.append(UInt8(ascii: ":"))
            append(value, to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The fields; empty if the text was written neither by `encode` nor by a script.
    static func decode(_ text: [UInt8]) -> [String: String] {
        FlatObject.read(text[...]) ?? (try? JSONDecoder().decode([String: String].self, from: Data(text))) ?? [:]
    }

    private static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20, 0x7f:
                text.append(contentsOf: "\\u00".utf8)
                text.append(digit(byte >> 4))
                text.append(digit(byte & 15))
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
