import Bytes
import CLibav
import Glibc
import Libav

/// A packet that one thread encoded and another one writes. Only one thread at a time uses it.
final class EncodedPacket: @unchecked Sendable {
    let packet: Packet

    /// Takes the data of another packet, which is empty afterwards.
    init(taking other: borrowing Packet) throws(MediaError) {
        packet = try Packet()
        av_packet_move_ref(packet.pointer, other.pointer)
    }

    /// Copies another packet with its data.
    init(copying other: EncodedPacket) throws(MediaError) {
        packet = try Packet()
        try check(av_packet_ref(packet.pointer, other.packet.pointer), "join packets")
        try check(av_packet_make_writable(packet.pointer), "join packets")
    }

    /// The first sample.
    var time: Int64 { packet.pointer.pointee.pts }

    var size: Int { Int(packet.pointer.pointee.size) }

    /// Whether another packet has the same time and the same data.
    func hasSameContent(as other: EncodedPacket) -> Bool {
        time == other.time && size == other.size
            && memcmp(packet.pointer.pointee.data, other.packet.pointer.pointee.data, size) == 0
    }

    /// The data, for changes. It is copied first if another packet shares it.
    var writable: UnsafeMutableBufferPointer<UInt8> {
        get throws(MediaError) {
            try check(av_packet_make_writable(packet.pointer), "join packets")
            return UnsafeMutableBufferPointer(start: packet.pointer.pointee.data, count: size)
        }
    }

    /// Appends zeros.
    func grow(by count: Int) throws(MediaError) {
        let before = size
        try check(av_grow_packet(packet.pointer, CInt(count)), "join packets")
        for index in before..<size { packet.pointer.pointee.data[index] = 0 }
    }
}

/// Consecutive packets of one encoder.
struct PacketRun {
    /// The number of the first packet in the stream, for codecs with one packet a frame.
    let first: Int
    let packets: [EncodedPacket]

    /// The packet with a number; `nil` if the run does not contain it.
    subscript(number: Int) -> EncodedPacket? {
        packets.indices.contains(number - first) ? packets[number - first] : nil
    }
}
