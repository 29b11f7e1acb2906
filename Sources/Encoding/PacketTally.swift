import CLibav
import CZlib
import Libav

/// The totals of a stream's packets: their number, their bytes and their time span.
package struct PacketTally {
    /// Packets that contain audio; empty ones, which only carry a header, do not count.
    package private(set) var count = 0
    private(set) var bytes: Int64 = 0
    /// Units of the stream's time base.
    private(set) var first: Int64?
    private(set) var last: Int64?
    private var lastDuration: Int64 = 0
    /// The duration of the longest packet.
    private(set) var longest: Int64 = 0
    /// Whether a packet had an earlier time than the packet before it.
    private(set) var wentBack = false
    private(set) var corrupt = 0
    /// The CRC-32 of all packets; `nil` if it is not computed.
    private(set) var sum: UInt?

    init(sums: Bool = false) { sum = sums ? 0 : nil }

    mutating func add(_ packet: borrowing Packet) {
        // FLAC's encoder ends with an empty packet, which only carries the final header.
        guard packet.pointer.pointee.size > 0 else { return }
        count += 1
        bytes += Int64(packet.pointer.pointee.size)
        sum = sum.map { crc32($0, packet.bytes.baseAddress, uInt(packet.bytes.count)) }
        if packet.isCorrupt { corrupt += 1 }
        longest = max(longest, packet.duration)
        guard let time = packet.timestamp else { return }
        if let last, time < last { wentBack = true }
        first = first ?? time
        // If the last Ogg page counts fewer samples than its first packet, libav's demuxer computes a negative duration in 32
        // bits.
        (last, lastDuration) = (time, packet.duration < 1 << 31 ? packet.duration : 0)
    }

    /// From the start of the first packet to the end of the last one; `nil` if no packet has a timestamp.
    var span: Int64? { first.flatMap { first in last.map { $0 + lastDuration - first } } }
}
