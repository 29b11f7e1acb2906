import Bytes
import CLibav
import MediaTypes

/// MPEG audio as libav has to see it while it opens the source: the first frame is one only for a second that is alike.
///
/// libav takes the first frame for junk if the next one differs in its mode or its flags, as with joint stereo, and does not
/// open a source that ends behind it. Once the source is open, all bytes are its own.
final class OpeningView: ByteSource {
    private let source: any ByteSource
    /// The last byte of the headers of frames that differ, and what is seen in their place.
    private var seen: [Int64: UInt8] = [:]
    /// The layer of a source of one frame, of which libav sees too little to tell it.
    private(set) var codec: AVCodecID?
    /// A header that is seen behind the end.
    private var added: [UInt8] = []

    /// The bits of a header's last byte that libav compares (`MP3_MASK` in libavformat/mp3dec.c).
    private static let compared: UInt8 = 0xCF

    /// Looks at the first frames; nothing if libav opens the source as it is.
    init?(_ source: any ByteSource) throws {
        guard !source.isEndless else { return nil }
        self.source = source
        let bytes = SourceBytes(source)
        var place = try TagBytes.leading(source).end
        guard let first = try bytes.read(at: place, 4) else { return nil }
        // A header of Xing takes the place of the first frame of audio.
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

    /// Whether both are of one version, layer and sample rate.
    private static func isAlike(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first[0] == second[0] && (first[1] ^ second[1]) & 0xFE == 0 && (first[2] ^ second[2]) & 0x0C == 0
    }

    /// Shows the source as it is from now on.
    func settle() { (seen, added) = ([:], []) }

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
