import Bytes
import CLibav
import CSampleSum
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// What the encoders of segments leave out.
@Suite(.timeLimit(.minutes(5))) struct JointEndTests {
    @Test func `an encoder of FLAC on a thread whose sum is left out declares the MD5 of nothing`() async throws {
        let sums = try await onThread {
            defer { sample_sum_leave_out(false) }
            return try [true, false].map { isLeftOut in
                sample_sum_leave_out(isLeftOut)
                return try Self.declaredSum()
            }
        }
        let nothing = try MD5Hash().finish()
        #expect(sums[0] == nothing)
        #expect(sums[1] != nothing)
    }

    /// The MD5 in the header that an encoder of FLAC makes at its end.
    private static func declaredSum() throws -> [UInt8] {
        let shape = SampleShape(format: AV_SAMPLE_FMT_S16, rate: 44_100, layout: ChannelLayout(defaultFor: 1))
        let settings = try EncodingSettings.resolve(Rendition(format: "flac"), shape, .integer(bits: 16))
        let encoder = try Encoder.open(settings, globalHeader: true)
        let frame = try Frame()
        let packet = try Packet()
        try frame.reserve(4608, shape)
        frame.silence(shape)
        try encoder.send(frame)
        try encoder.sendEnd()
        var sum: [UInt8] = []
        while try encoder.receive(into: packet) {
            var count = 0
            if let info = av_packet_get_side_data(packet.pointer, AV_PKT_DATA_NEW_EXTRADATA, &count), count >= 34 {
                sum = Array(UnsafeBufferPointer(start: info + 18, count: 16))
            }
        }
        return sum
    }

    @Test func `a joint of Vorbis is not before the planned frame, although packets are equal there`() throws {
        // Packets are 960 samples apart; frame 50 of 64 samples is within the fourth one.
        let joined = try EqualPacketJoint().join(try Self.run(Array(0..<16)), try Self.run(Array(0..<30)), at: 50) {
            _ in true
        }
        #expect(joined?.dropped == 4 && joined?.kept.count == 4)
    }

    @Test func `a joint is not decoded if the encoder before has made the same packets behind it`() async throws {
        try await onThread {
            let shape = SampleShape(format: AV_SAMPLE_FMT_S16, rate: 48_000, layout: ChannelLayout(defaultFor: 1))
            let settings = try EncodingSettings.resolve(Rendition(format: "opus"), shape, .integer(bits: 16))
            let check = JointCheck(
                encoder: SegmentEncoder(try Encoder.open(settings, globalHeader: true), start: 0), shape: shape,
                late: 0, warmup: 0)
            let running = try Self.run(Array(0..<16))
            let next = try Self.run(Array(0..<30))
            #expect(check.isSame(Joined(running, next, at: 10), running, next))
            // 80 ms behind the joint are too few to compare.
            #expect(!check.isSame(Joined(running, next, at: 11), running, next))
            let other = try Self.run(Array(0..<15) + [99] + Array(16..<30))
            #expect(!check.isSame(Joined(running, other, at: 10), running, other))
            var changed = Joined(running, next, at: 10)
            changed.kept[9] = try EncodedPacket(copying: changed.kept[9])
            #expect(!check.isSame(changed, running, next))
        }
    }

    /// Packets of 20 ms with a byte each.
    private static func run(_ contents: [UInt8]) throws -> PacketRun {
        let packets = try contents.enumerated().map { number, byte in
            let packet = try Packet()
            try check(av_new_packet(packet.pointer, 1), "make a packet")
            packet.pointer.pointee.data[0] = byte
            packet.pointer.pointee.pts = Int64(number * 960)
            return try EncodedPacket(taking: packet)
        }
        return PacketRun(first: 0, packets: packets)
    }
}
