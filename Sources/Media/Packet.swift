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

    /// Units of the stream's time base.
    var duration: Int64 { pointer.pointee.duration }

    /// Whether the packet says that its data is encrypted.
    var isEncrypted: Bool { av_packet_get_side_data(pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) != nil }

    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pointer.pointee.data, count: Int(pointer.pointee.size))
    }
}
