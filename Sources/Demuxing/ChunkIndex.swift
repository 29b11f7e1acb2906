package import CLibav
package import Libav

/// Corrects timestamps of AVI packets by the file's index. libav only counts chunks, and does not notice skipped ones.
package struct ChunkIndex {
    private var next: CInt = 0
    /// Consecutive packets whose time matched the index. Until enough have matched, the index may count in other units than
    /// packets.
    private var agreeing = 0
    private var isUseless = false
    private static let surely = 8
    /// The time that libav's count of chunks lacks, in units of the time base.
    private var lag: Int64 = 0

    /// Corrects no time until enough packets agree with the index.
    package init() {}

    /// Whether libav counts a packet of one chunk as several, and so counts time that is not lost.
    ///
    /// libav divides a chunk's bytes by the header's block size, which MP3 frames of high bit rates exceed (`get_duration` in
    /// libavformat/avidec.c).
    package static func isOvercounted(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) -> Bool {
        let block = Int(stream.pointee.codecpar.pointee.block_align)
        return packet.duration == 1 && block > 0 && packet.bytes.count > block
    }

    /// Sets a packet's time to the time of its offset in the index.
    package mutating func correct(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) {
        guard !isUseless, let time = packet.timestamp else { return }
        let count = avformat_index_get_entries_count(stream)
        if let last = next > 0 ? avformat_index_get_entry(stream, next - 1) : nil, last.pointee.pos + 8 > packet.offset
        {
            next = 0
        }
        // An entry has the offset of the eight-byte chunk header.
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
