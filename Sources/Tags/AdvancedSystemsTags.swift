import Bytes
import CTagLib

/// Writes the tags of an ASF file into the header object at its start.
enum AdvancedSystemsTags {
    /// The maximum size of the tags in bytes.
    static func room(_ metadata: Metadata) -> Int {
        let texts = metadata.texts.reduce(0) { sum, text in
            sum + text.value.reduce(0) { $0 + 2 * ($1.utf8.count + text.key.utf8.count) + 100 }
        }
        return metadata.pictures.reduce(texts) { sum, picture in
            sum + picture.bytes.count + 2 * (picture.description.utf8.count + picture.mediaType.utf8.count) + 200
        }
    }

    /// Attributes that reserve space in the header. A value's length has 16 bits, and each character takes two bytes.
    static func fillers(_ size: Int) -> [(name: String, value: String)] {
        guard size > 0 else { return [] }
        return (0...(size / 60_000)).map { ("RESPOOL-\($0)", String(repeating: "-", count: 30_000)) }
    }

    /// Writes tags into the header in place, followed by a padding object; returns `false` if they do not fit.
    static func replace(_ content: borrowing TagContent, in store: any RandomAccessOutput) throws -> Bool {
        let bytes = SourceBytes(StoredSource(store))
        guard let size = try bytes.little(at: 16, 8), size >= 30, size < 1 << 30,
            let base = try bytes.read(at: 0, Int(size)), var header = content.render(TAG_FORM_ASF, base: base),
            !header.isEmpty
        else { return false }
        let left = base.count - header.count
        guard left == 0 || left >= 24 else { return false }
        if left > 0 {
            header += padding + littleEndian(UInt64(left), 8)
            header += [UInt8](repeating: 0, count: left - 24)
            let objects = header[24..<28].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            header.replaceSubrange(24..<28, with: littleEndian(objects + 1, 4))
            header.replaceSubrange(16..<24, with: littleEndian(UInt64(base.count), 8))
        }
        try header.withUnsafeBytes { try store.write($0, at: 0) }
        return true
    }

    /// ASF_Padding_Object, 1806D474-CADF-4509-A4BA-9AABCB96AAE8.
    private static let padding: [UInt8] = [
        0x74, 0xD4, 0x06, 0x18, 0xDF, 0xCA, 0x09, 0x45, 0xA4, 0xBA, 0x9A, 0xAB, 0xCB, 0x96, 0xAA, 0xE8,
    ]
}
