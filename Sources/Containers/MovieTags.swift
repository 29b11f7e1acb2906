package import Bytes

/// The tags of an MPEG-4 or QuickTime file: the `udta` box in `moov`.
package struct MovieTags {
    private let bytes: SourceBytes
    private let source: any ByteSource
    private let userBox: Box

    struct Box {
        let name: String
        let start: Int64
        let body: Int64
        let end: Int64
    }

    /// Finds the `udta` box; `nil` if there is none.
    package init?(_ source: any ByteSource) throws {
        self.source = source
        bytes = SourceBytes(source)
        let file = Box(name: "", start: 0, body: 0, end: source.length)
        guard let movie = try Self.children(file, bytes).first(where: { $0.name == "moov" }),
            let user = try Self.children(movie, bytes).first(where: { $0.name == "udta" })
        else { return nil }
        userBox = user
    }

    /// The offset of the box's header.
    package var start: Int64 { userBox.start }

    /// The box's size in bytes, including its header.
    package var size: Int64 { userBox.end - userBox.start }

    /// The whole box; `nil` if boxes are nested deeper than in tags, or are too many.
    package func body() throws -> [UInt8]? {
        var left = Self.maxBoxes
        guard try isShallow(userBox, levels: 7, &left) else { return nil }
        return try bytes.read(at: userBox.start, Int(size))
    }

    private func isShallow(_ box: Box, levels: Int, _ left: inout Int) throws -> Bool {
        guard Self.containers.contains(box.name) else { return true }
        let children = try Self.children(box, bytes)
        left -= children.count
        guard levels > 1, left > 0 else { return children.isEmpty }
        for child in children where try !isShallow(child, levels: levels - 1, &left) { return false }
        return true
    }

    private static let maxBoxes = 10_000
    /// TagLib enters boxes of these names anywhere.
    private static let containers: Set = [
        "moov", "udta", "mdia", "meta", "ilst", "stbl", "minf", "moof", "traf", "trak", "stsd",
    ]

    /// The number of bytes before the boxes in `meta`: version and flags, which QuickTime omits.
    package static func preface(ofMetaBefore name: String?) -> Int {
        // TagLib detects QuickTime by these names.
        name.map(["hdlr", "ilst", "mhdr", "ctry", "lang"].contains) ?? false ? 0 : 4
    }

    /// Writes an `ilst` into its reserved space, followed by a `free` box; returns `false` if it does not fit.
    package func replace(with list: [UInt8], isQuickTime: Bool, in store: any RandomAccessOutput) throws -> Bool {
        let children = try Self.children(userBox, bytes)
        let room: Box?
        var result: [UInt8]
        if isQuickTime {
            room = children.first { $0.name == "XMP_" }
            let zeros = [UInt8](repeating: 0, count: 9)
            let handler = Self.box("hdlr", zeros.dropLast() + Array("mdirappl".utf8) + zeros)
            result = Self.box("meta", [0, 0, 0, 0] + handler + list)
        } else {
            let meta = children.first { $0.name == "meta" }
            room = try meta.flatMap { try Self.children($0, bytes).first { $0.name == "ilst" } }
            result = list
        }
        guard let room else { return false }
        let left = Int(room.end - room.start) - result.count
        guard left == 0 || left >= 8 else { return false }
        if left >= 8 { result += Self.box("free", [UInt8](repeating: 0, count: left - 8)) }
        try result.withUnsafeBytes { try store.write($0, at: room.start) }
        return true
    }

    private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
        bigEndian(UInt64(body.count + 8), 4) + Array(name.utf8) + body
    }

    /// The child boxes, up to the first invalid one.
    private static func children(_ box: Box, _ bytes: SourceBytes) throws -> [Box] {
        var boxes: [Box] = []
        var offset = box.body
        switch box.name {
        case "meta": offset += Int64(preface(ofMetaBefore: try bytes.text(at: offset + 4, 4)))
        // Version, flags and entry count.
        case "stsd": offset += 8
        default: break
        }
        while boxes.count < maxBoxes, offset + 8 <= box.end, let short = try bytes.big(at: offset, 4),
            let name = try bytes.text(at: offset + 4, 4)
        {
            let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short == 0 ? box.end - offset : short
            guard size >= 8, size <= box.end - offset else { break }
            boxes.append(Box(name: name, start: offset, body: offset + (short == 1 ? 16 : 8), end: offset + size))
            offset += size
        }
        return boxes
    }
}
