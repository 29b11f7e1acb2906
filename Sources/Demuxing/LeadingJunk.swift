import Bytes
import CLibav
import Containers
import MediaTypes

/// Hides what is between ID3v2 and the Xing header of an MP3 file, which libav only finds directly behind ID3v2: an APEv2 tag, zeros,
/// or the rest of a tag.
enum LeadingJunk {
    /// As far as libav searches for the first frame (`mp3_read_header` in libavformat/mp3dec.c).
    private static let maxBytes: Int64 = 65_536

    static func hidden(_ source: any ByteSource, _ opening: OpeningMethod) throws -> any ByteSource {
        guard case .likeFrames = opening, !source.isEndless else { return source }
        let start = try TagBytes.leading(source).end
        let search = try TagBytes.leadingApe(source, at: start)?.upperBound ?? start
        let count = min(max(source.length - search, 0), maxBytes)
        guard let bytes = try SourceBytes(source).read(at: search, Int(count)),
            let place = bytes.withUnsafeBufferPointer({ header($0) }), case let header = search + Int64(place),
            header > start
        else { return source }
        return SplicedSource(source, [(start..<header, [])])
    }

    /// The offset of a Xing or VBRI header before the first frame.
    private static func header(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        for place in bytes.indices where bytes[place] == 0xFF {
            let frame = UnsafeBufferPointer(rebasing: bytes[place...])
            guard let length = FrameHeader.length(AV_CODEC_ID_MP3, frame) else { continue }
            let mark = frame.dropFirst(Int(XingHeader.mark(frame.prefix(4))))
            if XingFields(Array(mark.prefix(XingFields.maxBytes))[...]) != nil { return place }
            // The header of Fraunhofer's encoder has the same place in all frames.
            if frame.dropFirst(36).starts(with: "VBRI".utf8) { return place }
            let next = UnsafeBufferPointer(rebasing: frame.dropFirst(length))
            if FrameHeader.length(AV_CODEC_ID_MP3, next) != nil { return nil }
        }
        return nil
    }
}
