import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Verifies MPEG audio frames by the headers that follow at the declared distances.
enum FrameChain {
    /// Whether a packet after unknown bytes is a frame, and not random bytes that look like one.
    static func isReal(
        _ packet: borrowing Packet, _ source: any ByteSource, _ framing: FrameDelimiter, _ codec: AVCodecID
    ) throws(MediaError) -> Bool {
        // In other formats, the container defines where packets begin.
        guard case .chain = framing, packet.offset >= 0, let start = packet.bytes.firstIndex(of: 0xFF) else {
            return true
        }
        return try isReal(from: packet.offset + Int64(start), source, codec)
    }

    /// Whether a frame begins at an offset, and others behind it.
    static func isReal(from start: Int64, _ source: any ByteSource, _ codec: AVCodecID) throws(MediaError) -> Bool {
        do {
            let bytes = SourceBytes(source)
            var offset = start
            for _ in 0..<4 {
                // The last frames of the source are followed by fewer frames.
                guard let head = try bytes.read(at: offset, 4) else { return false }
                let length = head.withUnsafeBufferPointer { FrameHeader.length(codec, $0) }
                guard let length else { return false }
                offset += Int64(length)
            }
            return true
        } catch {
            throw .unreadable(error)
        }
    }
}
