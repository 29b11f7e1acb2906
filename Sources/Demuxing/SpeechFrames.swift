import Bytes
import CLibav
import Libav

/// Makes one frame a packet of AMR, of which MP4 has several in a sample (3GPP TS 26.244, 6.5). libav decodes the first one.
final class SpeechFrames {
    private let stream: Int
    /// The bytes of a frame by its type, without the byte that tells the type; types that are not listed are not used.
    private let sizes: [UInt8: Int]
    /// The frames of the last packet that were not returned yet, and the offset, the time and the duration of the first one.
    private var rest: ArraySlice<UInt8> = []
    private var (offset, time, duration): (Int64, Int64?, Int64) = (-1, nil, 0)

    /// RFC 4867, section 5.3, and 3GPP TS 26.101 and TS 26.201, table 1a. `nil` for other codecs.
    init?(_ stream: UnsafeMutablePointer<AVStream>) {
        self.stream = Int(stream.pointee.index)
        switch stream.pointee.codecpar.pointee.codec_id {
        case AV_CODEC_ID_AMR_NB: sizes = [0: 12, 1: 13, 2: 15, 3: 17, 4: 19, 5: 20, 6: 26, 7: 31, 8: 5, 15: 0]
        case AV_CODEC_ID_AMR_WB:
            sizes = [0: 17, 1: 23, 2: 32, 3: 36, 4: 40, 5: 46, 6: 50, 7: 58, 8: 60, 9: 5, 14: 0, 15: 0]
        default: return nil
        }
    }

    /// Forgets the last packet.
    func forget() { rest = [] }

    /// Keeps what is behind the first frame of a packet, if the packet consists of several.
    func accept(_ packet: borrowing Packet) {
        guard packet.streamIndex == stream, let first = size(packet.bytes.first), first < packet.bytes.count else {
            return
        }
        var (place, count) = (0, Int64(0))
        while place < packet.bytes.count, let size = size(packet.bytes[place]) {
            (place, count) = (place + size, count + 1)
        }
        guard place == packet.bytes.count else { return }
        rest = Array(packet.bytes)[first...]
        duration = packet.duration / count
        offset = packet.offset < 0 ? -1 : packet.offset + Int64(first)
        time = packet.timestamp.map { $0 + duration }
        packet.shorten(to: first)
        packet.pointer.pointee.duration = duration
    }

    /// Makes the next frame of the last packet a packet; returns `false` if there is none.
    func frame(into packet: borrowing Packet) throws(MediaError) -> Bool {
        guard let size = size(rest.first) else { return false }
        try packet.fill(Array(rest.prefix(size)), stream: stream, offset: offset, duration: duration)
        if let time { (packet.pointer.pointee.pts, packet.pointer.pointee.dts) = (time, time) }
        rest = rest.dropFirst(size)
        if offset >= 0 { offset += Int64(size) }
        time = time.map { $0 + duration }
        return true
    }

    private func size(_ head: UInt8?) -> Int? { head.flatMap { sizes[$0 >> 3 & 15] }.map { 1 + $0 } }
}
