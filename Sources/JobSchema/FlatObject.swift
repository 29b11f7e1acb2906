/// A fast parser for the JSON of most jobs: objects in which all values are strings of printable ASCII without escapes.
package enum FlatObject {
    /// The strings by name, in a tenth of the time of `JSONDecoder`; `nil` for all other JSON, which needs the decoder.
    package static func read(_ text: ArraySlice<UInt8>) -> [String: String]? {
        text.withUnsafeBytes { bytes in
            var scanner = Scanner(bytes: bytes)
            return scanner.object()
        }
    }

    private struct Scanner {
        let bytes: UnsafeRawBufferPointer
        private var position = 0

        init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        mutating func object() -> [String: String]? {
            var fields: [String: String] = [:]
            guard takes("{") else { return nil }
            repeat {
                // For a repeated name, `JSONDecoder` determines which value is used.
                guard let name = text(), takes(":"), let value = text(), fields.updateValue(value, forKey: name) == nil
                else { return nil }
            } while takes(",")
            guard takes("}") else { return nil }
            skipBlanks()
            return position == bytes.count ? fields : nil
        }

        private mutating func text() -> String? {
            guard takes("\"") else { return nil }
            let start = position
            while position < bytes.count, (0x20...0x7e).contains(bytes[position]), bytes[position] != UInt8(ascii: "\\")
            {
                if bytes[position] == UInt8(ascii: "\"") {
                    defer { position += 1 }
                    return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
                }
                position += 1
            }
            return nil
        }

        private mutating func takes(_ character: Unicode.Scalar) -> Bool {
            skipBlanks()
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func skipBlanks() {
            while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
        }
    }
}
