import Bytes
import Containers
import Libav

/// Reads the frame behind the last one that the header of Musepack (stream version 7) counts, which libav does not read. It holds what
/// the synthesis still needs for the last samples.
final class MusepackFlush {
    private let source: any ByteSource
    /// Where the counted frames end: the offset of a word, and a bit; `nil` if no frame was read, or if this one was.
    private var end: (word: Int64, bit: Int64)?

    /// `nil` if all samples are in frames that the header counts.
    init?(_ source: any ByteSource) throws {
        guard try MusepackHeader(source)?.isFollowed == true else { return nil }
        self.source = source
    }

    /// Bits are in words of 32, of which the last byte comes first. libav puts the number of a frame's first bit in front of them.
    private static let prefix = 4
    /// The size of a frame, and the number of samples in the last one.
    private static let (sizeBits, lengthBits): (Int64, Int64) = (20, 11)

    /// Reads one of the counted frames. `position` is where libav reads next: the word in which the frame ends, or the next one.
    func read(_ packet: borrowing Packet, position: Int64) {
        guard packet.bytes.count > Self.prefix, let first = packet.bytes.first else { return end = nil }
        let bits = Self.bits(packet.bytes.dropFirst(Self.prefix), from: Int64(first) - Self.sizeBits, Self.sizeBits)
        end = bits.map { (position, (Int64(first) + $0) % 32) }
    }

    /// Makes a packet of the frame; returns `false` if there is none, or if it was read.
    func next(into packet: borrowing Packet) throws(MediaError) -> Bool {
        guard let end else { return false }
        self.end = nil
        let start = end.bit + Self.lengthBits
        let (word, bit) = (end.word + start / 32 * 4, start % 32)
        do {
            let reader = SourceBytes(source)
            guard let head = try reader.read(at: word, Int((bit + Self.sizeBits + 31) / 32 * 4)),
                let size = Self.bits(head[...], from: bit, Self.sizeBits), size > 0,
                let bytes = try reader.read(at: word, Int((bit + Self.sizeBits + size + 31) / 32 * 4))
            else { return false }
            let frame = [UInt8(bit + Self.sizeBits), 0, 0, 0] + bytes
            try packet.fill(frame, stream: 0, offset: -1, duration: 0)
        } catch let error as MediaError { throw error } catch { throw .unreadable(error) }
        return true
    }

    /// The number in a range of bits; `nil` if there are fewer.
    private static func bits(_ bytes: some Collection<UInt8>, from start: Int64, _ count: Int64) -> Int64? {
        let bytes = Array(bytes.prefix(16))
        guard start >= 0, start + count <= 8 * Int64(bytes.count) else { return nil }
        return (start..<start + count).reduce(0) { value, bit in
            let byte = bytes[Int(bit / 32 * 4 + 3 - bit % 32 / 8)]
            return value << 1 | Int64(byte >> UInt8(7 - bit % 8) & 1)
        }
    }
}
