package import Bytes
import CLibav
import Containers

/// The Xing or Info header in the first frame of an MP3 file.
package struct XingHeader {
    /// The offset of the first audio frame.
    package let start: Int64
    /// The number of audio frames; `nil` if not declared.
    package let frames: Int64?
    /// Bytes of the audio frames and of the header's own frame; `nil` if not declared.
    package let bytes: Int64?
    /// The encoder delay and padding in samples, from LAME's extension; `nil` without it.
    let delay: Int64?
    let padding: Int64?
    /// Samples of a frame.
    package let frameLength: Int64

    /// The offset after the last byte that the header counts.
    package var end: Int64? { bytes.map { header + $0 } }
    private let header: Int64

    /// Samples between the encoder's delay and padding, which is what libav returns for a whole file.
    package var audible: Int64? {
        guard let frames, let delay, let padding else { return nil }
        // The decoder delays by 529 samples, which the padding compensates only if it is as long.
        return frames * frameLength - delay - max(padding, 529)
    }

    /// Reads the header; `nil` if there is none.
    package init?(_ source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        let offset = try TagBytes.leading(source).end
        guard let head = try bytes.read(at: offset, 4),
            let length = head.withUnsafeBufferPointer({ FrameHeader.length(AV_CODEC_ID_MP3, $0) })
        else { return nil }
        let mark = offset + Self.mark(head)
        let count = min(bytes.rest(from: mark), Int64(XingFields.maxBytes))
        guard count > 0, let field = try bytes.read(at: mark, Int(count)), let fields = XingFields(field[...]) else {
            return nil
        }
        (self.bytes, delay, padding) = (fields.bytes, fields.delay, fields.padding)
        // The smallest frame has 24 bytes. A count that exceeds the source's size is ignored.
        frames = fields.frames.flatMap { $0 <= source.length / 24 ? $0 : nil }
        header = offset
        start = offset + Int64(length)
        frameLength = head[1] >> 3 & 3 == 3 ? 1152 : 576
    }

    /// The offset of the fields in a frame, behind the side information.
    static func mark(_ head: some Collection<UInt8>) -> Int64 {
        let head = Array(head.prefix(4))
        let (isFirst, isMono) = (head[1] >> 3 & 3 == 3, head[3] >> 6 == 3)
        return 4 + (isFirst ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
    }
}
