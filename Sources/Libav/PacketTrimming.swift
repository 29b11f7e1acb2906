package import Bytes
import CLibav

/// What demuxers tell of a packet's samples beside the samples themselves.
extension Packet {
    /// Samples that a decoder is to drop before and at the end of this packet, if the demuxer says so.
    package var trimming: (skip: Int64, discard: Int64)? {
        var size = 0
        guard let bytes = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 10 else {
            return nil
        }
        func little(_ offset: Int) -> Int64 { (0..<4).reduce(0) { $0 | Int64(bytes[offset + $1]) << (8 * $1) } }
        // The first number is signed, and negative ones count for nothing.
        return (skip: little(0) < 0x8000_0000 ? little(0) : 0, discard: little(4))
    }

    /// Says how many samples a decoder is to drop, in place of all that was said.
    package borrowing func trim(skip: Int64, discard: Int64) throws(MediaError) {
        av_packet_free_side_data(pointer)
        guard let bytes = av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10) else {
            throw .outOfMemory("mark hidden samples")
        }
        for index in 0..<10 { bytes[index] = 0 }
        for index in 0..<4 {
            bytes[index] = UInt8(truncatingIfNeeded: skip >> (8 * index))
            bytes[4 + index] = UInt8(truncatingIfNeeded: discard >> (8 * index))
        }
    }

    /// Takes away all that the source's container said beside the data.
    package borrowing func forgetTrim() { av_packet_free_side_data(pointer) }

    /// Whether it is only to be decoded, and not heard.
    package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// Whether the decoder is to be set up anew before it.
    package var changesParameters: Bool {
        av_packet_get_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
            || av_packet_get_side_data(pointer, AV_PKT_DATA_PARAM_CHANGE, nil) != nil
    }

    /// Places it anew, in samples.
    package borrowing func place(at time: Int64, duration: Int64) {
        pointer.pointee.pts = time
        pointer.pointee.dts = time
        pointer.pointee.duration = duration
        pointer.pointee.pos = -1
        pointer.pointee.flags = pointer.pointee.flags & ~AV_PKT_FLAG_DISCARD | AV_PKT_FLAG_KEY
    }
}
