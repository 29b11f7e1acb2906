import Text

/// The header Content-Disposition of a file that is saved under a name (RFC 6266).
enum FileDisposition {
    static func attachment(_ name: String) -> String {
        let plain = String(decoding: name.utf8.map { isPlain($0) || $0 == 0x20 ? $0 : 0x5F }, as: UTF8.self)
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(PercentEncoding.encoded(name, keeping: isPlain))"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: [0x2D, 0x2E, 0x5F].contains(byte)
        }
    }
}
