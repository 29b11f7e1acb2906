import CLibav
import CZlib
import Libav

/// What a stream's packets come to: their number, their bytes and the time that they span.
package struct PacketTally {
    package private(set) var count = 0
    private(set) var bytes: Int64 = 0
    /// Units of the stream's time base.
    private(set) var first: Int64?
    private(set) var last: Int64?
    private var lastDuration: Int64 = 0
    /// The longest packet.
    private(set) var longest: Int64 = 0
    /// Whether a packet came with an earlier time than the one before.
    private(set) var wentBack = false
    private(set) var corrupt = 0
    /// The CRC-32 of all their bytes, if it is kept.
    private(set) var sum: UInt?

    init(sums: Bool = false) { sum = sums ? 0 : nil }

    mutating func add(_ packet: borrowing Packet) {
        // FLAC's encoder ends with a packet without bytes, which only carries the final header.
        guard packet.pointer.pointee.size > 0 else { return }
        count += 1
        bytes += Int64(packet.pointer.pointee.size)
        sum = sum.map { crc32($0, packet.bytes.baseAddress, uInt(packet.bytes.count)) }
        if packet.isCorrupt { corrupt += 1 }
        longest = max(longest, packet.duration)
        guard let time = packet.timestamp else { return }
        if let last, time < last { wentBack = true }
        first = first ?? time
        // libav's Ogg reader lets a last page that is shorter than its first packet run below zero, in 32 bits.
        (last, lastDuration) = (time, packet.duration < 1 << 31 ? packet.duration : 0)
    }

    /// From the first packet's beginning to the last one's end; nothing if no packet has a time.
    var span: Int64? { first.flatMap { first in last.map { $0 + lastDuration - first } } }
}
