import Bytes
import CLibav
import Demuxing
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// Joins the packets of several encoders, and counts the joints.
@Suite(.timeLimit(.minutes(5))) struct PacketJointTests {
    /// A joint that is never found.
    private final class NoJoint: PacketJoint {
        func join(
            _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
        ) -> Joined? { nil }
    }

    /// A joint with one place, which ignores the bit reservoir.
    private final class WrongJoint: PacketJoint {
        func join(
            _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
        ) throws(MediaError) -> Joined? {
            let joined = Joined(running, next, at: planned)
            return try isAccepted(joined) ? joined : nil
        }
    }

    /// A joint whose first place ignores the bit reservoir.
    private final class SecondJoint: PacketJoint {
        func join(
            _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
        ) throws(MediaError) -> Joined? {
            if let first = try WrongJoint().join(running, next, at: planned, where: isAccepted) { return first }
            return try ReservoirJoint(isConstant: true).join(running, next, at: planned + 1, where: isAccepted)
        }
    }

    /// Notes how many bytes of the reservoir are lost at a joint, and at the planned place.
    private final class NotingJoint: PacketJoint, @unchecked Sendable {
        private(set) var lost: [(chosen: Int, planned: Int)] = []

        func join(
            _ running: PacketRun, _ next: PacketRun, at planned: Int, where isAccepted: Acceptance
        ) throws(MediaError) -> Joined? {
            let joined = try ReservoirJoint(isConstant: true).join(running, next, at: planned, where: isAccepted)
            if let joined, let chosen = Self.loss(running, next, at: next.first + joined.dropped),
                let planned = Self.loss(running, next, at: planned)
            {
                lost.append((chosen, planned))
            }
            return joined
        }

        private static func loss(_ running: PacketRun, _ next: PacketRun, at number: Int) -> Int? {
            guard let before = running[number - 1].flatMap({ LayerThreeFrame($0.packet.bytes) }),
                let first = next[number].flatMap({ LayerThreeFrame($0.packet.bytes) })
            else { return nil }
            return before.reservoir - first.begin
        }
    }

    @Test func `a joint of MP3 is where little of the bit reservoir is lost`() async throws {
        let joint = NotingJoint()
        let (_, report) = try await Self.encoded(joint)
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        #expect(joint.lost.count == 2)
        #expect(joint.lost.allSatisfy { $0.planned > 300 && (0...40).contains($0.chosen) }, "\(joint.lost)")
    }

    @Test func `where no joint is found, the encoder before goes on with the packets of a single one`() async throws {
        let serial = try await Self.serial.value
        let (joined, report) = try await Self.encoded(NoJoint())
        #expect(report == SegmentReport(segments: 3, joints: 0, fallbacks: 2))
        #expect(joined == serial)
    }

    @Test func `where the first place of a joint sounds wrong, the next one is taken`() async throws {
        let serial = try await Self.serial.value
        let (joined, report) = try await Self.encoded(SecondJoint())
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        #expect(joined != serial && joined.map(\.count) == serial.map(\.count))
    }

    @Test func `of two places of a joint, the one that sounds like a single encoder is taken`() async throws {
        // The noise before the joint has errors as large as the joint without its main data.
        let noisy = [570..<580, 1158..<1168]
        let (wrong, tolerated) = try await Self.encoded(WrongJoint(), noisy: noisy)
        #expect(tolerated == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        let (joined, report) = try await Self.encoded(SecondJoint(), noisy: noisy)
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        #expect(joined != wrong)
    }

    @Test func `a joint with the wrong main data is found by decoding, and dropped`() async throws {
        let serial = try await Self.serial.value
        let (joined, report) = try await Self.encoded(WrongJoint())
        #expect(report == SegmentReport(segments: 3, joints: 0, fallbacks: 2))
        #expect(joined == serial)
    }

    @Test func `the joint of MP3 is not dropped, and changes packets`() async throws {
        let serial = try await Self.serial.value
        let (joined, report) = try await Self.encoded(ReservoirJoint(isConstant: true))
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
        #expect(joined != serial && joined.map(\.count) == serial.map(\.count))
    }

    @Test func `a sound that is harder to encode at a joint than around it does not make the joint wrong`() async throws
    {
        let (_, report) = try await Self.encoded(ReservoirJoint(isConstant: true), noisy: [590..<614, 1178..<1202])
        #expect(report == SegmentReport(segments: 3, joints: 2, fallbacks: 0))
    }

    /// MP3 at 128 kb/s.
    private static func settings() throws -> EncodingSettings {
        try EncodingSettings.resolve(
            Rendition(format: "mp3", bitRate: 128_000),
            SampleShape(format: AV_SAMPLE_FMT_S16P, rate: 44_100, layout: ChannelLayout(defaultFor: 2)),
            .integer(bits: 16))
    }

    /// Two segments of 588 frames, and a part of a third one.
    private static let count = 1260
    private static let chord = Sounds.chord(samples: count * 1152)

    /// A frame of the chord, on the right an eighth of a second earlier, and perhaps with noise.
    private static func chord(_ number: Int, _ shape: SampleShape, isNoisy: Bool = false) throws -> Frame {
        let frame = try Frame()
        try frame.reserve(1152, shape)
        for channel in 0..<2 {
            let start = max(0, number - 5 * channel) * 1152
            chord[start..<start + 1152].withUnsafeBytes {
                UnsafeMutableRawPointer(frame.planes[channel]!).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
            }
        }
        var noise = Noise(state: UInt64(number))
        for index in 0..<1152 where isNoisy {
            for channel in 0..<2 {
                let samples = UnsafeMutableRawPointer(frame.planes[channel]!).assumingMemoryBound(to: Int16.self)
                samples[index] = samples[index] / 4 + Int16.random(in: -20_000...20_000, using: &noise)
            }
        }
        frame.pointer.pointee.pts = Int64(number * 1152)
        return frame
    }

    /// The packets of one encoder.
    private static let serial = Task {
        try await onThread {
            let settings = try Self.settings()
            let encoder = try Encoder.open(settings, globalHeader: false)
            let packet = try Packet()
            var packets: [[UInt8]] = []
            for number in 0...count {
                if number < count { try encoder.send(try chord(number, settings.shape)) } else { try encoder.sendEnd() }
                while try encoder.receive(into: packet) { packets.append(Array(packet.bytes)) }
            }
            return packets
        }
    }

    /// The packets of several encoders with a joint, and their report.
    private static func encoded(
        _ joint: sending any PacketJoint, noisy: [Range<Int>] = []
    ) async throws -> ([[UInt8]], SegmentReport) {
        let box = JointBox(joint: joint)
        return try await onThread {
            let settings = try Self.settings()
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0), settings,
                    globalHeader: false, threads: ThreadBudget(3, isFixed: true), stop: CancellationFlag(),
                    joint: box.joint))
            let packet = try Packet()
            var packets: [[UInt8]] = []
            for number in 0...count {
                let isNoisy = noisy.contains { $0.contains(number) }
                if number == count {
                    try pool.sendEnd()
                } else {
                    try pool.send(try chord(number, settings.shape, isNoisy: isNoisy))
                }
                while try pool.receive(into: packet) { packets.append(Array(packet.bytes)) }
            }
            return (packets, pool.report)
        }
    }

    /// Hands a joint to the thread that uses it.
    private final class JointBox: @unchecked Sendable {
        let joint: any PacketJoint
        init(joint: any PacketJoint) { self.joint = joint }
    }

    @Test func `a stream that is given up ends its threads`() async throws {
        let threads = ThreadBudget(4, isFixed: true)
        try await onThread {
            let settings = try Self.settings()
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0), settings,
                    globalHeader: false, threads: threads, stop: CancellationFlag()))
            for number in 0..<Self.count { try pool.send(try Self.chord(number, settings.shape)) }
        }
        #expect(threads.working == 0)
    }

    @Test func `a stream goes on with one encoder when its threads are taken away while a segment waits`() async throws
    {
        let threads = ThreadBudget(3, isFixed: false)
        let stop = CancellationFlag()
        // A stream that waits for ever would block the test.
        let limit = Task {
            try await Task.sleep(for: .seconds(240))
            stop.raise()
        }
        // Other streams use all threads but that of the first encoder.
        for _ in 0..<2 { threads.take() }
        let (count, report) = try await onThread {
            let settings = try Self.settings()
            let pool = try #require(
                try SegmentPool(
                    SegmentEncoder(try Encoder.open(settings, globalHeader: false), start: 0), settings,
                    globalHeader: false, threads: threads, stop: stop))
            let packet = try Packet()
            var count = 0
            for number in 0...Self.count {
                let frame = try Self.chord(min(number, Self.count - 1), settings.shape)
                if number == Self.count { try pool.sendEnd() } else { try pool.send(frame) }
                // The second segment has begun, and waits.
                if number == 588 { threads.count = 1 }
                while try pool.receive(into: packet) { count += 1 }
            }
            return (count, pool.report)
        }
        limit.cancel()
        #expect(count >= Self.count)
        #expect(report.segments == 2 && report.joints == 1)
        for _ in 0..<2 { threads.release() }
        #expect(threads.working == 0)
    }

    @Test func `an encoder that is kept makes the next segment, from its first packet`() async throws {
        try await onThread {
            let first = SegmentEncoder(try Encoder.open(try Self.settings(), globalHeader: false), start: 0)
            var queue = SegmentQueue(first, EarlyPackets(start: 0), around: 0)
            queue.begin(EarlyPackets(start: 588), endingBefore: 588)
            #expect(queue.waiting == 1)
            queue.keepForReuse(0)
            let id = queue.dequeue()
            let again = queue.dequeue()
            #expect(id == 1 && again == nil && queue.waiting == nil)
            let kept = queue.encoder(of: 1)
            #expect(kept === first && first.nextPacket == 588 && !first.isFirst)
            queue.begin(EarlyPackets(start: 1176), endingBefore: 1176)
            let next = queue.dequeue()
            let none = queue.encoder(of: 2)
            #expect(next == 2 && none == nil)
            queue.requeue(2)
            #expect(queue.waiting == 2)
            queue.failure = .stopped
            let failed = queue.dequeue()
            #expect(failed == nil)
        }
    }
}
