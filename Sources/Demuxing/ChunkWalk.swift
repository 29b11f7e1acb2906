package import Bytes
package import CLibav

/// Reads the chunks of one AVI stream by the file's index, as long as none is missing between them.
package struct ChunkWalk: ~Copyable {
    /// The chunk that was reached: its entry in the index, and the samples of the chunks before it.
    package private(set) var last: (entry: AVIndexEntry, samples: Int64)?
    private var window: SourceWindow

    /// The sizes of the headers of a chunk and of a list, which also has a type.
    private static let (header, list): (Int64, Int64) = (8, 12)
    /// Bytes of a frame that are needed to compute its length.
    private static let head = 64

    /// The offset of a chunk's audio.
    package static func body(of entry: AVIndexEntry) -> Int64 { entry.pos + header }

    /// Reads from the stream's first chunk to the last one that begins after at most `most` samples, or to the last one before
    /// an inconsistency. `length` returns the samples of a chunk from its size and its first bytes.
    package init(
        _ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, atMost most: Int64,
        length: (_ size: Int, _ head: UnsafeBufferPointer<UInt8>) -> Int64?
    ) throws {
        window = SourceWindow(source)
        var (number, samples): (CInt, Int64) = (0, 0)
        var end: Int64?
        while samples <= most, let entry = avformat_index_get_entry(stream, number)?.pointee,
            // The offsets in an index are not validated.
            (0..<source.length).contains(entry.pos)
        {
            let begin = Self.body(of: entry)
            // A chunk with an odd number of bytes is padded by one byte.
            let size = Int64(entry.size)
            guard size > 0, try end.map({ try follows($0, entry.pos) }) ?? true else { return }
            let chunk = try window.bytes(at: entry.pos, atLeast: Int(Self.header) + Self.head)
            guard Self.isSound(chunk), Self.size(chunk) == size,
                let count = length(Int(entry.size), UnsafeBufferPointer(rebasing: chunk[Int(Self.header)...])),
                count > 0
            else { return }
            last = (entry, samples)
            samples += count
            end = begin + size + size % 2
            number += 1
        }
    }

    private static func isSound(_ chunk: UnsafeBufferPointer<UInt8>) -> Bool {
        chunk.count >= header && chunk[2..<4].elementsEqual("wb".utf8)
    }

    private static func size(_ chunk: UnsafeBufferPointer<UInt8>) -> Int64 {
        chunk[4..<8].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Whether only whole chunks of other kinds lie between the end of one chunk and the next one.
    private mutating func follows(_ end: Int64, _ next: Int64) throws -> Bool {
        var place = end
        while place < next {
            let bytes = try window.bytes(at: place, atLeast: Int(Self.header))
            guard bytes.count >= Self.header, !Self.isSound(bytes) else { return false }
            let size = Self.size(bytes)
            let isList = bytes.starts(with: "LIST".utf8) || bytes.starts(with: "RIFF".utf8)
            place += isList ? Self.list : Self.header + size + size % 2
        }
        return place == next
    }
}
