import CLibav

/// One compressed piece of a stream; owns an `AVPacket`.
struct Packet: ~Copyable {
    let pointer: UnsafeMutablePointer<AVPacket>

    init() {
        guard let pointer = av_packet_alloc() else { fatalError("out of memory") }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// Releases the data, `av_packet_unref`.
    borrowing func clear() { av_packet_unref(pointer) }

    var streamIndex: Int { Int(pointer.pointee.stream_index) }

    /// Whether the demuxer found less data than the packet should have.
    var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// Units of the stream's time base; zero if unknown or out of all reason.
    var duration: Int64 { Self.plausible.contains(pointer.pointee.duration) ? max(pointer.pointee.duration, 0) : 0 }

    /// Times that can be added up without a thought: a header may hold any number.
    private static let plausible = -(Int64(1) << 55)...Int64(1) << 55

    /// Where it is presented, or else decoded, in units of the stream's time base; nothing if unknown or out of all reason.
    var timestamp: Int64? {
        let time = pointer.pointee.pts == av_swift_no_timestamp ? pointer.pointee.dts : pointer.pointee.pts
        return Self.plausible.contains(time) ? time : nil
    }

    /// Where its data, or what it is part of, lies in the source; negative if unknown.
    var offset: Int64 { pointer.pointee.pos }

    /// Whether the packet says that its data is encrypted.
    var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }

    /// Whether its samples are decoded and thrown away, because they lie before an edit.
    var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// Samples that are no audio at the start and end of what it decodes to; nothing if the packet does not say.
    var trim: (start: Int64, end: Int64)? {
        var size = 0
        guard let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8 else {
            return nil
        }
        func number(_ offset: Int) -> Int64 { (0..<4).reversed().reduce(0) { $0 << 8 | Int64(data[offset + $1]) } }
        return (number(0), number(4))
    }

    /// Drops what the demuxer says of it besides its time.
    borrowing func clearSideData() { av_packet_free_side_data(pointer) }

    /// Says how many samples at the end of what it decodes to are no audio.
    borrowing func setTrim(end: Int64) {
        guard let data = av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10) else {
            fatalError("out of memory")
        }
        for index in 0..<10 {
            data[index] = (4..<8).contains(index) ? UInt8(truncatingIfNeeded: end >> ((index - 4) * 8)) : 0
        }
    }

    /// Whether the decoder is to be set up anew before it.
    var changesStream: Bool {
        av_packet_get_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
            || av_packet_get_side_data(pointer, AV_PKT_DATA_PARAM_CHANGE, nil) != nil
    }

    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size))
    }
}
