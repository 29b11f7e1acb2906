package import Bytes

/// The attachments of a Matroska file (RFC 9559, section 5.1.6), such as its pictures.
package struct MatroskaAttachments {
    private struct Element {
        let start: Int64
        let body: Int64
        let end: Int64
    }

    private let elements: [Element]

    /// More elements of a segment than clusters of a second in a day.
    private static let maxElements = 100_000

    /// Finds the attachments of a segment; only those before its first cluster while the source is being downloaded.
    package init(_ source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        var found: [Element] = []
        if let header = try bytes.element(at: 0), let size = header.size,
            let segment = try bytes.element(at: header.body.adding(size))
        {
            var offset = segment.body
            for _ in 0..<Self.maxElements {
                guard let id = try bytes.big(at: offset, 4), let element = try bytes.element(at: offset),
                    let size = element.size, id != 0x1F43_B675 || source.isAllPresent
                else { break }
                let end = element.body.adding(size)
                if id == 0x1941_A469 { found.append(Element(start: offset, body: element.body, end: end)) }
                offset = end
            }
        }
        elements = found
    }

    /// The size of all attachments in bytes.
    package var size: Int64 { elements.reduce(0) { $0.adding($1.end - $1.body) } }

    /// The bytes by offset that make void elements of them (RFC 8794, section 11.3.2).
    package var voids: [Int64: UInt8] {
        var bytes: [Int64: UInt8] = [:]
        for element in elements {
            // The identifier takes one byte instead of four, so the size can take as many more.
            let width = min(element.body - element.start - 1, 8)
            let size = element.end - element.start - 1 - width
            bytes[element.start] = 0xEC
            for place in 1...width {
                let byte = UInt8(truncatingIfNeeded: size >> (8 * (width - place)))
                bytes[element.start + place] = place == 1 ? byte | 0x80 >> UInt8(width - 1) : byte
            }
        }
        return bytes
    }
}
