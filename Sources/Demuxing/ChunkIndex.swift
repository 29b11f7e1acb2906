package import CLibav
package import Libav

/// The index of an AVI file, which tells what libav's own count of chunks does not: that some were passed over.
package struct ChunkIndex {
    private var next: CInt = 0
    /// How many packets in a row had the time of the index, up to which it may count in other units than packets do.
    private var agreeing = 0
    private var isUseless = false
    private static let surely = 8
    /// What the count of chunks lacks, in units of the time base.
    private var lag: Int64 = 0

    package init() {}

    /// Whether libav takes the packet for more than the one chunk that it is, and so counts time that nobody lost.
    ///
    /// It divides a chunk's bytes by what the header calls a block's, which frames of MP3 at high rates exceed.
    /// (`get_duration` in libavformat/avidec.c)
    package static func isOvercounted(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        let block = Int(stream.pointee.codecpar.pointee.block_align)
        return packet.duration == 1 && block > 0 && packet.bytes.count > block
    }

    /// Gives a packet the time that the index has for its place.
    package mutating func correct(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) {
        guard !isUseless, let time = packet.timestamp else { return }
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
            lag = max(entry.pointee.timestamp - time, 0)
            if agreeing < Self.surely {
                isUseless = entry.pointee.timestamp != time
                agreeing += 1
            }
        }
        if isUseless || agreeing < Self.surely {
            lag = 0
            return
        }
        packet.delay(by: lag)
    }
}
