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

    /// Whether the text is UTF-8, which is the only encoding of JSON between systems. (RFC 8259, section 8.1) JSON in UTF-16 or
    /// UTF-32 has zero bytes.
    static func isUTF8(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    /// A name that an object of the JSON has twice; `nil` if there is none. Readers differ in which of the values they take.
    /// (RFC 8259, section 4)
    static func repeatedName(_ bytes: [UInt8]) -> String? {
        // The names of each open object; those of a list stay empty.
        var names: [Set<String>] = []
        var text = 0..<0
        var position = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let start = position
                repeat {
                    position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
                } while position < bytes.count && bytes[position] != UInt8(ascii: "\"")
                text = start..<min(position + 1, bytes.count)
            case UInt8(ascii: "{"), UInt8(ascii: "["): names.append([])
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = names.popLast()
            case UInt8(ascii: ":"):
                guard !names.isEmpty, let name = name(bytes[text]) else { break }
                guard names[names.count - 1].insert(name).inserted else { return name }
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The text of a string with its quotes.
    private static func name(_ quoted: ArraySlice<UInt8>) -> String? {
        quoted.contains(UInt8(ascii: "\\"))
            ? try? JSONDecoder().decode(String.self, from: Data(quoted))
            : String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
    }

    /// The value of a text; `nil` if it is not JSON.
    static func value(_ bytes: [UInt8]) -> JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) }
}
