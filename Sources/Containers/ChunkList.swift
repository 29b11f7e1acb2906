package import Bytes

/// Lists the chunks of a RIFF, RIFX, RF64 or AIFF file by reading only their headers.
package struct ChunkList {
    /// A chunk's name and the range of its body.
    package struct Entry {
        /// Four characters; trailing spaces belong to the name.
        package let name: String
        /// The offset of the body.
        package let body: Int64
        /// The declared size of the body in bytes.
        package let size: Int64
    }

    /// The chunks in file order.
    package let entries: [Entry]
    /// Whether numbers are big-endian, as in AIFF and RIFX.
    package let isBigEndian: Bool
    private let bytes: SourceBytes
    private let maxBytes: Int

    /// Lists the chunks after the file's 12-byte header, up to the first invalid one.
    package init(_ source: any ByteSource, maxBytes: Int = Metadata.maxBytes) throws {
        bytes = SourceBytes(source)
        isBigEndian = try bytes.isRIFX() || bytes.text(at: 0, 4) == "FORM"
        self.maxBytes = maxBytes
        var entries: [Entry] = []
        var offset: Int64 = 12
        var long: Int64?
        while entries.count < 10_000, let name = try bytes.text(at: offset, 4),
            var size = try bytes.number(at: offset + 4, 4, isBig: isBigEndian)
        {
            if name == "ds64" { long = try bytes.little(at: offset + 16, 8) }
            if name == "data", size == 0xFFFF_FFFF {
                guard let long, long >= 0, long <= source.length else { break }
                size = long
            }
            entries.append(Entry(name: name, body: offset + 8, size: size))
            guard size <= source.length - offset else { break }
            offset += 8 + size + size % 2
        }
        self.entries = entries
    }

    /// The body of the first chunk of a name; `nil` if it is missing, incomplete or larger than the limit of tags.
    package func body(_ name: String) throws -> [UInt8]? {
        guard let entry = entries.first(where: { $0.name == name }) else { return nil }
        return try body(entry)
    }

    /// The body of a chunk; `nil` if it is incomplete or larger than the limit of tags.
    package func body(_ entry: Entry) throws -> [UInt8]? {
        guard entry.size <= maxBytes else { return nil }
        return try bytes.read(at: entry.body, Int(entry.size))
    }

    /// The bodies of all lists of a type, without the type itself.
    package func lists(_ kind: String) throws -> [[UInt8]] {
        try entries.filter { $0.name == "LIST" }.compactMap { entry in
            guard let body = try body(entry), body.starts(with: Array(kind.utf8)) else { return nil }
            return Array(body.dropFirst(4))
        }
    }

    /// The chunks in a list's body.
    package func children(_ list: [UInt8]) -> [(name: String, bytes: [UInt8])] {
        var children: [(String, [UInt8])] = []
        var offset = 0
        while offset + 8 <= list.count {
            let number = list[(offset + 4)..<(offset + 8)]
            let size = (isBigEndian ? Array(number) : number.reversed()).reduce(0) { $0 << 8 | Int($1) }
            guard size <= list.count - offset - 8 else { break }
            let name = String(decoding: list[offset..<(offset + 4)], as: UTF8.self)
            children.append((name, Array(list[(offset + 8)..<(offset + 8 + size)])))
            offset += 8 + size + size % 2
        }
        return children
    }

    /// A chunk with its header, padded to an even length.
    package static func chunk(_ name: String, _ body: [UInt8], isBigEndian: Bool = false) -> [UInt8] {
        let size = UInt64(body.count)
        var result = Array(name.utf8)
        result += isBigEndian ? bigEndian(size, 4) : littleEndian(size, 4)
        result += body
        if body.count % 2 == 1 { result.append(0) }
        return result
    }
}
