import Bytes
import CLibav
import MediaTypes

/// Presents MPEG audio to libav's probe with equal headers in its first frames.
///
/// libav skips the first frame if the mode or the flags of the next one differ, as with joint stereo, and does not open a
/// source that ends behind it. Once the source is open, the original bytes are shown.
final class OpeningView: ByteSource {
    private let source: any ByteSource
    /// The offsets of the last header bytes that differ, and the bytes that are presented instead.
    private var seen: [Int64: UInt8] = [:]
    /// The codec of a source with a single frame, from which libav cannot determine it.
    private(set) var codec: AVCodecID?
    /// A header that is presented after the end.
    private var added: [UInt8] = []

    /// The bits of a header's last byte that libav compares (`MP3_MASK` in libavformat/mp3dec.c).
    private static let compared: UInt8 = 0xCF

    /// Reads the first frames; `nil` if libav can open the source unchanged.
    init?(_ source: any ByteSource) throws {
        guard !source.isEndless else { return nil }
        self.source = source
        let bytes = SourceBytes(source)
        var place = try TagBytes.leading(source).end
        guard let first = try bytes.read(at: place, 4) else { return nil }
        // A Xing header replaces the first audio frame.
        for number in 0..<3 {
            guard let head = try bytes.read(at: place, 4), Self.isAlike(first, head),
                let length = head.withUnsafeBufferPointer({ FrameHeader.length(AV_CODEC_ID_MP3, $0) })
            else { break }
            if number > 0, (first[3] ^ head[3]) & Self.compared != 0 {
                seen[place + 3] = head[3] & ~Self.compared | first[3] & Self.compared
            }
            place += Int64(length)
            guard place == source.length else { continue }
            added = first
            codec = first.withUnsafeBufferPointer { FrameHeader.mpegCodec($0) }
        }
        if seen.isEmpty && added.isEmpty { return nil }
    }

    /// Whether both headers have the same version, layer and sample rate.
    private static func isAlike(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first[0] == second[0] && (first[1] ^ second[1]) & 0xFE == 0 && (first[2] ^ second[2]) & 0x0C == 0
    }

    /// Shows the original source from now on.
    func reset() { (seen, added) = ([:], []) }

    var length: Int64 { source.length + Int64(added.count) }
    var isAllPresent: Bool { source.isAllPresent }
    func takeTitles() -> [StreamTitle] { source.takeTitles() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let behind = offset - source.length
        if behind >= 0, behind < added.count {
            let rest = added[Int(behind)...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        }
        let count = try source.read(into: buffer, at: offset)
        for (place, byte) in seen where (offset..<offset + Int64(count)).contains(place) {
            buffer[Int(place - offset)] = byte
        }
        return count
    }
}
