import Bytes
import CLibav
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

    /// At 44.1 kHz, in whole blocks.
    private static func samples(seconds: Int) -> Int { seconds * 44_100 / 64 * 64 }

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
                sound.withUnsafeBufferPointer { frame.floats(0).update(from: $0.baseAddress! + start, count: 64) }
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
        let sound = Sounds.bursts(samples: Self.samples(seconds: 52))
        let result = try await Self.vorbis(sound, two)
        #expect(result.report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
        #expect(try await Self.vorbis(sound, threads: 4, four).packets == result.packets)
        // An encoder would go on for 7.5 s.
        #expect(two.ends.count == 1 && two.ends == four.ends)
        #expect(two.ends.allSatisfy { $0 < 3 * 44_100 / 2 }, "\(two.ends)")
    }

    /// A chord with clicks. Their short blocks move all long ones behind them.
    private static func chord(seconds: Int, clicks: [Int] = []) -> [Float] {
        var sound = Sounds.partials(samples: samples(seconds: seconds))
        for second in clicks { sound[second * 44_100] += 0.9 }
        return sound
    }

    @Test func `segments of Vorbis have joints in sound without attacks`() async throws {
        let sound = Self.chord(seconds: 90)
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
    }

    @Test func `segments of Vorbis have joints in sound whose blocks stay short`() async throws {
        let sound = Sounds.square(period: 802, samples: Self.samples(seconds: 52))
        #expect(try await Self.vorbis(sound).report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
    }

    @Test func `segments of Vorbis have joints where the last attack is earlier`() async throws {
        let sound = Self.chord(seconds: 52, clicks: [39])
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
