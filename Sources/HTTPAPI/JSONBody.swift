import FoundationEssentials
import JobSchema

/// JSON as the API reads and writes it.
enum JSONBody {
    static func bytes(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { Array($0) } ?? Array("null".utf8)
    }

    /// The maximum number of values in a body.
    static let maxValues = 100_000

    /// Whether a text has more values than a body may have. Decoding takes far longer than counting.
    static func isTooComplex(_ bytes: [UInt8]) -> Bool {
        var count = 0
        var (isText, isEscaped) = (false, false)
        for byte in bytes {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else {
                    isText = byte != UInt8(ascii: "\"")
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","): count += 1
            default: break
            }
            if count > maxValues { return true }
        }
        return false
    }

    /// The value of a text; `nil` if it is not JSON.
    static func value(_ bytes: [UInt8]) -> JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) }
}
