import Bytes
import CLibav
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// Segments of Vorbis and their joints.
@Suite(.ownThread, .timeLimit(.minutes(5))) struct VorbisSegmentTests {
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
                    globalHeader: true, threads: ThreadBudget(threads, isFixed: true), stop: CancellationFlag(),
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
            ($0 / 15_000 % 3 == 0 ? 0.4 : 0.02) * noise.sample()
        }
        let result = try await Self.vorbis(sound, two)
        #expect(result.report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
        #expect(try await Self.vorbis(sound, threads: 4, four).packets == result.packets)
        // An encoder would go on for 7.5 s.
        #expect(two.ends.count == 1 && two.ends == four.ends)
        #expect(two.ends.allSatisfy { $0 < 3 * 44_100 / 2 }, "\(two.ends)")
    }

    /// A second of a chord with high partials, which continues in the next second.
    private static let chordSecond: [Float] = (0..<44_100).map { place in
        let partials: [Double] = [220, 330, 1990, 4730, 7910, 11_030, 14_170]
        var sum = 0.0
        for partial in partials { sum += 30 / partial * sin(2 * .pi * partial * Double(place) / 44_100) }
        return Float(sum)
    }

    /// The chord, faded in, with clicks. Their short blocks move all long ones behind them. Noise keeps packets from being equal by
    /// chance.
    private static func chord(seconds: Int, clicks: [Int] = []) -> [Float] {
        var noise = Noise(state: 2)
        var sound = Self.sound(seconds: seconds) {
            chordSecond[$0 % 44_100] * min(Float($0) / 44_100, 1) + 0.0003 * noise.sample()
        }
        for second in clicks { sound[second * 44_100] += 0.9 }
        return sound
    }

    @Test func `segments of Vorbis have joints in sound without attacks`() async throws {
        let sound = Self.chord(seconds: 90)
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
    }

    @Test func `segments of Vorbis have joints in sound whose blocks stay short`() async throws {
        let sound = Self.sound(seconds: 52) { $0 / 401 % 2 == 0 ? 0.7 : -0.7 }
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
    }

    @Test(arguments: [25, 39])
    func `segments of Vorbis have joints where the last attack is earlier`(second: Int) async throws {
        let sound = Self.chord(seconds: 52, clicks: [second])
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
    }

    @Test func `where an encoder of Vorbis goes on, segments do not depend on the number of threads`() async throws {
        // The second click is before the search for the start of the third segment, whose encoder has other long blocks. The third
        // click is in the next search.
        let sound = Self.chord(seconds: 140, clicks: [25, 45, 110])
        let two = try await Self.vorbis(sound)
        #expect(two.report == SegmentReport(segments: 4, joints: 2, fallbacks: 1))
        let seven = try await Self.vorbis(sound, threads: 7)
        #expect(seven.packets == two.packets && seven.report == two.report)
    }
}
