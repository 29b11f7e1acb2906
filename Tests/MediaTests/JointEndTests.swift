import Bytes
import CLibav
import CSampleSum
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// What the encoders of segments leave out.
@Suite(.timeLimit(.minutes(2))) struct JointEndTests {
    /// Notes how many samples the encoder before had gone on behind the planned place when a joint was found.
    private final class NotingJoint: PacketJoint, @unchecked Sendable {
        private(set) var ends: [Int64] = []

        func join(
            _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
        ) throws(MediaError) -> Joined? {
            let joined = try EqualPacketJoint().join(running, next, at: planned, where: isAccepted)
            if joined != nil { ends.append(running.packets.last!.time - Int64(64 * planned)) }
            return joined
        }
    }

    /// 44.1 kHz of mono.
    private static func sound(seconds: Int, _ sample: (Int) -> Float) -> [Float] {
        (0..<seconds * 44_100 / 64 * 64).map(sample)
    }

    /// The packets of mono in Vorbis, whose segments have 40 s, and how they were encoded.
    private static func vorbis(
        _ sound: [Float], threads: Int = 2, _ joint: NotingJoint = NotingJoint()
    ) async throws -> (packets: [[UInt8]], report: SegmentReport) {
        try await onThread {
            let settings = try EncodingSettings.resolve(
                Rendition(format: "ogg"),
                SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: 44_100, layout: ChannelLayout(defaultFor: 1)), .lossy)
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: true), start: 0), settings,
                    globalHeader: true, threads: EncoderThreads(threads, isFixed: true), stop: CancellationFlag(),
                    joint: joint))
            let frame = try Frame()
            let packet = try Packet()
            var packets: [[UInt8]] = []
            for start in stride(from: 0, to: sound.count, by: 64) {
                try frame.reserve(64, settings.shape)
                for index in 0..<64 { frame.floats(0)[index] = sound[start + index] }
                frame.pointer.pointee.pts = Int64(start)
                try pool.send(frame)
                while try pool.receive(into: packet) { packets.append(Array(packet.bytes)) }
            }
            try pool.sendEnd()
            while try pool.receive(into: packet) { packets.append(Array(packet.bytes)) }
            return (packets, pool.report)
        }
    }

    @Test func `the encoder of Vorbis before a joint ends soon after it with any number of threads`() async throws {
        let (two, four) = (NotingJoint(), NotingJoint())
        // Both encoders switch to short blocks where the noise becomes louder, each 45,000 samples.
        var noise = Noise(state: 1)
        let sound = Self.sound(seconds: 52) {
            ($0 / 15_000 % 3 == 0 ? 0.4 : 0.02) * Float.random(in: -1...1, using: &noise)
        }
        let result = try await Self.vorbis(sound, two)
        #expect(result.report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
        #expect(try await Self.vorbis(sound, threads: 4, four).packets == result.packets)
        // An encoder would go on for 7.5 s.
        #expect(two.ends.count == 1 && two.ends == four.ends)
        #expect(two.ends.allSatisfy { $0 < 3 * 44_100 / 2 }, "\(two.ends)")
    }

    /// A chord with high partials that is faded in. Noise keeps packets from being equal by chance.
    private static func chord(_ place: Int, _ noise: inout Noise) -> Float {
        let time = Double(place) / 44_100
        let sum = [220, 330, 1990, 4730, 7910, 11_030, 14_170].reduce(0) {
            $0 + 30 / $1 * sin(2 * .pi * $1 * time)
        }
        return Float(sum * min(time, 1)) + 0.0003 * Float.random(in: -1...1, using: &noise)
    }

    @Test func `segments of Vorbis have joints in sound without attacks`() async throws {
        var noise = Noise(state: 2)
        let sound = Self.sound(seconds: 90) { Self.chord($0, &noise) }
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
    }

    @Test func `segments of Vorbis have joints in sound whose blocks stay short`() async throws {
        let sound = Self.sound(seconds: 52) { $0 / 401 % 2 == 0 ? 0.7 : -0.7 }
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
    }

    /// A chord with clicks. Their short blocks move all long ones behind them.
    private static func clicks(at times: [Int], seconds: Int) -> [Float] {
        var noise = Noise(state: 3)
        return sound(seconds: seconds) { chord($0, &noise) + (times.contains($0) ? 0.9 : 0) }
    }

    @Test(arguments: [25, 39])
    func `segments of Vorbis have joints where the last attack is earlier`(second: Int) async throws {
        let sound = Self.clicks(at: [second * 44_100], seconds: 90)
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
    }

    @Test func `where an encoder of Vorbis goes on, segments do not depend on the number of threads`() async throws {
        // The second click is before the search for the start of the third segment, whose encoder has other long blocks.
        let sound = Self.clicks(at: [25 * 44_100, 45 * 44_100], seconds: 125)
        let two = try await Self.vorbis(sound)
        #expect(two.report.segments == 4 && two.report.joints >= 1 && two.report.fallbacks >= 1)
        for threads in [3, 7] {
            let result = try await Self.vorbis(sound, threads: threads)
            #expect(result.packets == two.packets && result.report == two.report)
        }
    }

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
