package import Bytes

/// The metadata blocks at the start of a FLAC file (RFC 9639).
package struct FlacBlocks {
    /// A metadata block.
    package struct Block {
        /// 0 is STREAMINFO, 1 padding, 4 a Vorbis comment, 6 a picture.
        package let kind: UInt8
        package let body: Int64
        /// Bytes of its body.
        package let size: Int
        /// Whether it declares that no other one follows.
        package let isLast: Bool
    }

    /// The metadata blocks in file order.
    package let blocks: [Block]
    /// The end of the blocks, where the frames begin.
    package let end: Int64
    private let bytes: SourceBytes

    /// The maximum number of blocks. Each costs a read, and a small file can contain a few million empty ones.
    package static let maxBlocks = 10_000

    /// Reads the headers of the blocks; `nil` if the source is not FLAC.
    package init?(_ source: any ByteSource) throws {
        bytes = SourceBytes(source)
        var offset = try TagBytes.id3Size(source, at: 0)
        guard try bytes.text(at: offset, 4) == "fLaC" else { return nil }
        offset += 4
        var blocks: [Block] = []
        while blocks.count < Self.maxBlocks, let header = try bytes.read(at: offset, 4) {
            let size = header[1...].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 4 + Int64(size) <= source.length else { break }
            blocks.append(Block(kind: header[0] & 0x7F, body: offset + 4, size: size, isLast: header[0] & 0x80 != 0))
            offset += 4 + Int64(size)
            if header[0] & 0x80 != 0 { break }
        }
        self.blocks = blocks
        end = offset
    }

    /// The bytes of a block; `nil` if the source ends before.
    package func body(_ block: Block) throws -> [UInt8]? { try bytes.read(at: block.body, block.size) }

    /// Replaces all blocks after STREAMINFO, and fills the rest with padding; returns `false` if the new blocks do not fit.
    package func replace(with bodies: [(kind: UInt8, bytes: [UInt8])], in store: any RandomAccessOutput) throws -> Bool
    {
        guard let first = blocks.first, let last = blocks.last, blocks.count > 1 else { return false }
        let start = first.body + Int64(first.size)
        let room = Int(last.body + Int64(last.size) - start)
        var result: [UInt8] = []
        for body in bodies {
            result += [body.kind] + bigEndian(UInt64(body.bytes.count), 3)
            result += body.bytes
        }
        let left = room - result.count - 4
        guard left >= 0 else { return false }
        result += [0x81] + bigEndian(UInt64(left), 3)
        result += [UInt8](repeating: 0, count: left)
        try result.withUnsafeBytes { try store.write($0, at: start) }
        return true
    }
}
