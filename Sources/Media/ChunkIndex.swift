import CLibav

/// The index of an AVI file, which tells what libav's own count of chunks does not: that some were passed over.
struct ChunkIndex {
    private var next: CInt = 0
    /// What the count of chunks lacks, in units of the time base.
    private var lag: Int64 = 0

    /// Gives a packet the time that the index has for its place.
    mutating func correct(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) {
        guard packet.timestamp != nil else { return }
        let count = avformat_index_get_entries_count(stream)
        if let last = next > 0 ? avformat_index_get_entry(stream, next - 1) : nil, last.pointee.pos + 8 > packet.offset
        {
            next = 0
        }
        // An entry has the offset of the chunk's header of eight bytes.
        while next < count, let entry = avformat_index_get_entry(stream, next), entry.pointee.pos + 8 < packet.offset {
            next += 1
        }
        if next < count, let entry = avformat_index_get_entry(stream, next), entry.pointee.pos + 8 == packet.offset {
            lag = max(entry.pointee.timestamp - (packet.timestamp ?? 0), 0)
        }
        packet.delay(by: lag)
    }
}
