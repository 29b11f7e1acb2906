package import Bytes

/// Reads the declared end of the data from the structure of video containers.
extension Extent {
    /// AVI: the size of the file.
    static func interleaved(_ bytes: SourceBytes) throws -> Int64? { try bytes.little(at: 4, 4).map { 8 + $0 } }

    /// ASF: the end of the data object, which follows the header object.
    static func advancedSystems(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.little(at: 16, 8), header >= 30,
            let data = try bytes.little(at: header.adding(16), 8), data >= 50
        else { return nil }
        return header.adding(data)
    }

    /// ISO base media: the end of the last top-level box of the first file.
    static func boxes(_ bytes: SourceBytes) throws -> Int64? {
        var offset: Int64 = 0
        var (hasMedia, hasFragments) = (false, false)
        while let short = try bytes.big(at: offset, 4), let name = try bytes.text(at: offset + 4, 4) {
            let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short
            // Size zero means to the end of the file. A box has at least eight bytes.
            guard size >= 8 else { return nil }
            // Of joined files with fragments, all are read.
            if name == "ftyp", hasMedia, !hasFragments { return offset }
            hasMedia = hasMedia || ["moov", "mdat"].contains(name)
            hasFragments = hasFragments || name == "moof"
            // Tags and other bytes behind the last box are not boxes.
            if size > bytes.rest(from: offset), !topLevel.contains(name) { return offset }
            offset = offset.adding(size)
        }
        return offset
    }

    /// Boxes that may be the last one (ISO 14496-12, QuickTime).
    private static let topLevel: Set = [
        "ftyp", "styp", "moov", "moof", "mdat", "mfra", "sidx", "ssix", "free", "skip", "wide", "pnot", "prft", "emsg",
        "meta", "uuid", "udta", "PICT", "pdin", "junk",
    ]

    /// ISO base media: what is missing in a file with media and without their header; `nil` if there is one.
    package static func missingIndex(_ bytes: SourceBytes) throws -> String? {
        let names = try Box(name: "", body: 0, end: bytes.rest(from: 0)).children(bytes).map(\.name)
        guard !names.contains("moov"), names.contains("mdat") else { return nil }
        return names.contains("moof")
            ? "the header (`moov`) of its fragments is missing"
            : "its index (`moov`) is missing, as in a recording that was not finished"
    }

    /// Matroska and WebM: the end of the segment; `nil` if its size is unknown (RFC 8794).
    static func matroska(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.element(at: 0), let size = header.size,
            let segment = try bytes.element(at: header.body + size), let length = segment.size
        else { return nil }
        return segment.body.adding(length)
    }

    /// Flash video: the file size in its first tag, a 64-bit floating-point number after its name.
    static func flash(_ bytes: SourceBytes) throws -> Int64? {
        let name = Array("filesize".utf8) + [0]
        guard let head = try bytes.read(at: 0, Int(min(bytes.rest(from: 0), 4096))),
            let found = head.firstRange(of: name), let bits = try bytes.big(at: Int64(found.upperBound), 8)
        else { return nil }
        let size = Double(bitPattern: UInt64(bitPattern: bits))
        return size > 0 && size < 1e18 ? Int64(size) : nil
    }

    /// MXF: the footer partition, if the header partition declares its offset (SMPTE ST 377-1, 7.1).
    static func materialExchange(_ bytes: SourceBytes) throws -> Int64? {
        let key: [UInt8] = [0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01, 0x0D, 0x01, 0x02, 0x01, 0x01, 0x02]
        guard try bytes.read(at: 0, key.count) == key, let form = try bytes.big(at: 16, 1) else { return nil }
        let body = 17 + (form > 0x80 ? form - 0x80 : 0)
        guard let footer = try bytes.big(at: body + 24, 8), footer > 0 else { return nil }
        return footer.adding(20)
    }

    /// NUT: the end of the index at the end of the file, which its last bytes point back to; `nil` if it is missing.
    static func nutIndex(_ bytes: SourceBytes) throws -> Int64? {
        let mark: [UInt8] = [0x4E, 0x58, 0xDD, 0x67, 0x2F, 0x23, 0xE6, 0x4E]
        let length = bytes.rest(from: 0)
        // The distance is followed by a 32-bit checksum, and possibly by bytes that do not belong to the file.
        let first = max(length - maxBehindIndex, 0)
        guard let tail = try bytes.read(at: first, Int(length - first)) else { return nil }
        for end in stride(from: tail.count, through: 12, by: -1) {
            let distance = Int64(bitPattern: tail[(end - 12)..<(end - 4)].reduce(0) { $0 << 8 | UInt64($1) })
            let end = first + Int64(end)
            if (1...end).contains(distance), try bytes.read(at: end - distance, 8) == mark { return end }
        }
        return nil
    }

    private static let maxBehindIndex: Int64 = 4096
}
