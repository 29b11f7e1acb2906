package import Bytes
import CLibav

/// The side data and flags of a packet that concern its samples.
extension Packet {
    /// Samples that the decoder drops at the start and the end of this packet, if the demuxer specified them.
    package var trimming: (skip: Int64, discard: Int64)? {
        var size = 0
        guard let bytes = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 10 else {
            return nil
        }
        func little(_ offset: Int) -> Int64 { (0..<4).reduce(0) { $0 | Int64(bytes[offset + $1]) << (8 * $1) } }
        // The first number is signed. Negative values are ignored.
        return (skip: little(0) < 0x8000_0000 ? little(0) : 0, discard: little(4))
    }

    /// Replaces all side data by the number of samples that a decoder drops.
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

    /// Removes the discard flag and the samples to drop, and keeps other side data.
    package borrowing func removeTrimming() {
        pointer.pointee.flags &= ~AV_PKT_FLAG_DISCARD
        for index in 0..<Int(pointer.pointee.side_data_elems)
        where pointer.pointee.side_data[index].type == AV_PKT_DATA_SKIP_SAMPLES {
            av_freep(&pointer.pointee.side_data[index].data)
            let last = Int(pointer.pointee.side_data_elems) - 1
            pointer.pointee.side_data[index] = pointer.pointee.side_data[last]
            pointer.pointee.side_data_elems -= 1
            return
        }
    }

    /// Whether the packet has no side data.
    package var hasNoSideData: Bool { pointer.pointee.side_data_elems == 0 }

    /// Removes all side data of the source's container.
    package borrowing func forgetTrim() { av_packet_free_side_data(pointer) }

    /// Whether the packet is decoded but its samples are dropped.
    package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// Whether the decoder has to be reconfigured before this packet.
    package var changesParameters: Bool {
        av_packet_get_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
            || av_packet_get_side_data(pointer, AV_PKT_DATA_PARAM_CHANGE, nil) != nil
    }

    /// Sets the times in samples, and clears the source offset and the discard flag.
    package borrowing func place(at time: Int64, duration: Int64) {
        pointer.pointee.pts = time
        pointer.pointee.dts = time
        pointer.pointee.duration = duration
        pointer.pointee.pos = -1
        pointer.pointee.flags = pointer.pointee.flags & ~AV_PKT_FLAG_DISCARD | AV_PKT_FLAG_KEY
    }
}
