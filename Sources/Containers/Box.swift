package import Bytes

/// A box of an ISO base media file.
package struct Box {
    /// The box type, four characters; empty for a range that is searched as if it were a box.
    package let name: String
    /// The offset of its contents.
    package let body: Int64
    /// The offset of the next box, after the contents.
    package let end: Int64

    package init(name: String, body: Int64, end: Int64) {
        self.name = name
        self.body = body
        self.end = end
    }

    /// The first child box of a name.
    package func first(_ name: String, _ bytes: SourceBytes) throws -> Box? {
        var (offset, count) = (body, 0)
        while count < Self.maxChildren, let box = try child(at: offset, bytes) {
            if box.name == name { return box }
            offset = box.end
            count += 1
        }
        return nil
    }

    /// The offsets of all child boxes of a type.
    package func places(of wanted: String, _ bytes: SourceBytes) throws -> [Int64] {
        var places: [Int64] = []
        var offset = body
        while let box = try child(at: offset, bytes) {
            if box.name == wanted { places.append(offset) }
            offset = box.end
        }
        return places
    }

    /// The child boxes, up to the first invalid one.
    package func children(_ bytes: SourceBytes) throws -> [Box] {
        var boxes: [Box] = []
        var offset = body
        while boxes.count < Self.maxChildren, let box = try child(at: offset, bytes) {
            boxes.append(box)
            offset = box.end
        }
        return boxes
    }

    private static let maxChildren = 10_000

    /// The child box at an offset; `nil` if there is none, or if it is invalid.
    package func child(at offset: Int64, _ bytes: SourceBytes) throws -> Box? {
        guard offset < end, let short = try bytes.big(at: offset, 4), let name = try bytes.text(at: offset + 4, 4)
        else { return nil }
        let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short == 0 ? end - offset : short
        guard size >= 8, size <= end - offset else { return nil }
        return Box(name: name, body: offset + (short == 1 ? 16 : 8), end: offset + size)
    }
}
