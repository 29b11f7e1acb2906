package import Bytes
package import CLibav

/// A packet of compressed data; owns an `AVPacket`.
package struct Packet: ~Copyable {
    /// libav's packet, valid during the lifetime of this value.
    package let pointer: UnsafeMutablePointer<AVPacket>

    /// Makes a packet without data (`av_packet_alloc`).
    package init() throws(MediaError) {
        guard let pointer = av_packet_alloc() else { throw .outOfMemory("make room for a packet") }
        self.pointer = pointer
    }

    deinit {
        var pointer: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&pointer)
    }

    /// Releases the data (`av_packet_unref`).
    package borrowing func clear() { av_packet_unref(pointer) }

    /// The stream's index in the container.
    package var streamIndex: Int { Int(pointer.pointee.stream_index) }

    /// Whether the demuxer found less data than the packet should contain.
    package var isCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// Units of the stream's time base; zero if unknown or implausible.
    package var duration: Int64 {
        let duration = pointer.pointee.duration
        return (0...Self.longest).contains(duration) ? duration : 0
    }

    /// More than a minute in nanoseconds. The sum over as many packets as a file can contain fits in 64 bits.
    private static let longest = Int64(1) << 36

    /// Timestamps that can be added without overflow. A header may contain any number.
    private static let plausible = -(Int64(1) << 55)...Int64(1) << 55

    /// The presentation time, or else the decoding time, in units of the stream's time base; `nil` if unknown or implausible.
    package var timestamp: Int64? {
        let time = pointer.pointee.pts == av_swift_no_timestamp ? pointer.pointee.dts : pointer.pointee.pts
        return Self.plausible.contains(time) ? time : nil
    }

    /// Assigns the packet to a stream, and converts its times from units of one sample to the stream's time base.
    package borrowing func enter(_ stream: UnsafeMutablePointer<AVStream>, rate: Int) {
        pointer.pointee.stream_index = stream.pointee.index
        av_packet_rescale_ts(pointer, AVRational(num: 1, den: CInt(rate)), stream.pointee.time_base)
    }

    /// Adds an offset to the times, in units of the stream's time base.
    package borrowing func delay(by time: Int64) {
        if pointer.pointee.pts != av_swift_no_timestamp { pointer.pointee.pts += time }
        if pointer.pointee.dts != av_swift_no_timestamp { pointer.pointee.dts += time }
    }

    /// Truncates the data to its first bytes.
    package borrowing func shorten(to count: Int) { av_shrink_packet(pointer, CInt(count)) }

    /// Appends zeros to the data up to a number of bytes.
    package borrowing func extend(to count: Int) throws(MediaError) {
        let size = Int(pointer.pointee.size)
        guard size > 0, count > size else { return }
        try check(av_grow_packet(pointer, CInt(count - size)), "read the source")
        for place in size..<count { pointer.pointee.data[place] = 0 }
    }

    /// Removes the first bytes of the data, and moves the offset behind them.
    package borrowing func dropFirst(_ count: Int) {
        pointer.pointee.data += count
        pointer.pointee.size -= CInt(count)
        if pointer.pointee.pos >= 0 { pointer.pointee.pos += Int64(count) }
    }

    /// Replaces the packet by bytes from an offset of the source, without a time.
    package borrowing func fill(_ bytes: [UInt8], stream: Int, offset: Int64, duration: Int64) throws(MediaError) {
        av_packet_unref(pointer)
        try check(av_new_packet(pointer, CInt(bytes.count)), "read the source")
        bytes.withUnsafeBytes {
            UnsafeMutableRawPointer(pointer.pointee.data!).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        (pointer.pointee.stream_index, pointer.pointee.pos, pointer.pointee.duration) = (CInt(stream), offset, duration)
        pointer.pointee.flags = AV_PKT_FLAG_KEY
    }

    /// Records that bytes between the packet before and this one are neither a frame nor a tag, until the packet is cleared.
    package borrowing func markGap() { pointer.pointee.opaque = UnsafeMutableRawPointer(bitPattern: 1) }

    /// Whether that was recorded.
    package var followsGap: Bool { pointer.pointee.opaque != nil }

    /// The offset of its data, or of the unit that contains it, in the source; negative if unknown.
    package var offset: Int64 { pointer.pointee.pos }

    /// Whether the packet is marked as encrypted.
    package var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }

    /// The encoded data, valid until the packet is cleared.
    @inlinable package var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size))
    }
}
