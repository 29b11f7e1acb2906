package import Bytes
package import CLibav

/// One compressed piece of a stream; owns an `AVPacket`.
package struct Packet: ~Copyable {
    package let pointer: UnsafeMutablePointer<AVPacket>

    package init() throws(MediaError) {
        guard let pointer = av_packet_alloc() else { throw .outOfMemory("make room for a packet") }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// Releases the data, `av_packet_unref`.
    package borrowing func clear() { av_packet_unref(pointer) }

    package var streamIndex: Int { Int(pointer.pointee.stream_index) }

    /// Whether the demuxer found less data than the packet should have.
    package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// Units of the stream's time base; zero if unknown or out of all reason.
    package var duration: Int64 {
        let duration = pointer.pointee.duration
        return (0...Self.longest).contains(duration) ? duration : 0
    }

    /// More than a minute in nanoseconds; as many packets as a file may hold add up to what fits.
    private static let longest = Int64(1) << 36

    /// Times that can be added up without a thought: a header may hold any number.
    private static let plausible = -(Int64(1) << 55)...Int64(1) << 55

    /// Where it is presented, or else decoded, in units of the stream's time base; nothing if unknown or out of all reason.
    package var timestamp: Int64? {
        let time = pointer.pointee.pts == av_swift_no_timestamp ? pointer.pointee.dts : pointer.pointee.pts
        return Self.plausible.contains(time) ? time : nil
    }

    /// Gives it to a stream, in whose time base its times are from then on; they were in units of one sample.
    package borrowing func enter(_ stream: UnsafeMutablePointer<AVStream>, rate: Int) {
        pointer.pointee.stream_index = stream.pointee.index
        av_packet_rescale_ts(pointer, AVRational(num: 1, den: CInt(rate)), stream.pointee.time_base)
    }

    /// Moves its times, in units of the stream's time base.
    package borrowing func delay(by time: Int64) {
        if pointer.pointee.pts != av_swift_no_timestamp { pointer.pointee.pts += time }
        if pointer.pointee.dts != av_swift_no_timestamp { pointer.pointee.dts += time }
    }

    /// Leaves out what lies behind its first bytes.
    package borrowing func shorten(to count: Int) { av_shrink_packet(pointer, CInt(count)) }

    /// Where its data, or what it is part of, lies in the source; negative if unknown.
    package var offset: Int64 { pointer.pointee.pos }

    /// Whether the packet says that its data is encrypted.
    package var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }

    @inlinable package var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size))
    }
}
