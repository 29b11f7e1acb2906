import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Frames of MPEG audio that follow each other at the distance that their headers tell.
enum FrameChain {
    /// Whether a packet that came behind bytes of no known kind is a frame, and not chance bytes that look like one.
    static func isReal(
        _ packet: borrowing Packet, _ source: any ByteSource, _ framing: FrameDelimiter, _ codec: AVCodecID
    ) throws(MediaError) -> Bool {
        // Elsewhere the container says where packets begin.
        guard case .chain = framing, packet.offset >= 0, let start = packet.bytes.firstIndex(of: 0xFF) else {
            return true
        }
        do {
            let bytes = SourceBytes(source)
            var offset = packet.offset + Int64(start)
            for _ in 0..<4 {
                // The last frames of the source have fewer behind them.
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
