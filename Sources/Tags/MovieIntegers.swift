import Containers

/// Rewrites integers in MPEG-4 tags to the width that TagLib reads.
///
/// An atom declares the width of its value, but TagLib assumes a fixed one: it reads a tempo of four bytes as 0.
enum MovieIntegers {
    private static let widths: [String: Int] = [
        "tmpo": 2, "stik": 1, "rtng": 1, "akID": 1, "pgap": 1, "cpil": 1, "pcst": 1, "hdvd": 1, "shwm": 1,
        "cnID": 4, "atID": 4, "geID": 4, "sfID": 4, "cmID": 4, "tves": 4, "tvsn": 4, "plID": 8,
    ]

    /// The boxes with such values in the expected width. Bytes that are not a list of whole boxes are returned unchanged.
    static func normalized(_ boxes: [UInt8]) -> [UInt8] { children(boxes[...], levels: 8) ?? boxes }

    /// `nil` if the boxes are nested deeper than `levels`, which no program writes.
    private static func children(_ bytes: ArraySlice<UInt8>, levels: Int) -> [UInt8]? {
        guard levels > 0 else { return nil }
        var (result, rest) = ([UInt8](), bytes)
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { return nil }
            let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            let body = rest.dropFirst(8).prefix(size - 8)
            guard let changed = rewritten(name, body, levels: levels - 1) else { return nil }
            result += box(Array(rest.dropFirst(4).prefix(4)), changed)
            rest = rest.dropFirst(size)
        }
        return result + rest
    }

    private static func rewritten(_ name: String, _ body: ArraySlice<UInt8>, levels: Int) -> [UInt8]? {
        switch name {
        case "udta", "ilst": return children(body, levels: levels) ?? Array(body)
        case "meta":
            let next = String(decoding: body.dropFirst(4).prefix(4), as: UTF8.self)
            let start = min(MovieTags.preface(ofMetaBefore: next), body.count)
            return Array(body.prefix(start))
                + (children(body.dropFirst(start), levels: levels) ?? Array(body.dropFirst(start)))
        default:
            guard let width = widths[name] else { return Array(body) }
            return value(body, width) ?? Array(body)
        }
    }

    /// The `data` box of an integer with `width` bytes; `nil` if there is not exactly one such box, or the value does not fit.
    private static func value(_ item: ArraySlice<UInt8>, _ width: Int) -> [UInt8]? {
        let size = item.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard size == item.count, item.dropFirst(4).starts(with: "data".utf8), (17...24).contains(size) else {
            return nil
        }
        // Version and type, then a locale. The type is a signed integer, or implied by the atom.
        let head = item.dropFirst(8).prefix(8)
        guard [0, 21, 22].contains(head.dropFirst(3).first) else { return nil }
        let digits = Array(item.dropFirst(16))
        guard digits.count != width, digits.dropLast(width).allSatisfy({ $0 == 0 }) else { return nil }
        let padded = [UInt8](repeating: 0, count: max(0, width - digits.count)) + digits.suffix(width)
        return box(Array("data".utf8), Array(head) + padded)
    }

    private static func box(_ name: [UInt8], _ body: [UInt8]) -> [UInt8] {
        let size = body.count + 8
        return (0..<4).map { UInt8(size >> (8 * (3 - $0)) & 0xFF) } + name + body
    }
}
