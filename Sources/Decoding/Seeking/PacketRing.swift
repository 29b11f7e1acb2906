import Bytes
import CLibav
import Libav

/// The last packets that were read, in order; owns their data.
struct PacketRing: ~Copyable {
    private var entries: [Entry] = []
    private var head = 0
    /// Empty packets for reuse.
    private var spare: [UnsafeMutablePointer<AVPacket>] = []

    private struct Entry {
        let packet: UnsafeMutablePointer<AVPacket>
        /// The packet's first sample.
        let start: Int64
    }

    deinit {
        for packet in entries[head...].map(\.packet) + spare {
            var packet: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&packet)
        }
    }

    var count: Int { entries.count - head }

    /// Takes a packet's data. Its timestamp becomes its first sample.
    mutating func append(_ packet: borrowing Packet, start: Int64) throws(MediaError) {
        guard let slot = spare.popLast() ?? av_packet_alloc() else { throw .outOfMemory("read the source") }
        av_packet_move_ref(slot, packet.pointer)
        slot.pointee.pts = start
        slot.pointee.dts = start
        entries.append(Entry(packet: slot, start: start))
    }

    /// Removes packets from the front, as long as at least `least` packets remain and they reach back to a sample.
    mutating func forget(before sample: Int64, keeping least: Int) {
        while count > least, entries[head + 1].start <= sample { drop() }
        if head > 1024, head * 2 > entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    mutating func clear() {
        while count > 0 { drop() }
    }

    /// Moves the first packet out; returns `false` if there is none.
    mutating func takeFirst(into packet: borrowing Packet) -> Bool {
        guard count > 0 else { return false }
        av_packet_unref(packet.pointer)
        av_packet_move_ref(packet.pointer, entries[head].packet)
        drop()
        return true
    }

    private mutating func drop() {
        av_packet_unref(entries[head].packet)
        spare.append(entries[head].packet)
        head += 1
    }
}
