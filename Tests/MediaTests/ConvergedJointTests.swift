import CLibav
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// Joints of Opus are where both encoders are in the same state.
@Suite(.timeLimit(.minutes(5))) struct ConvergedJointTests {
    private let joint = ConvergedJoint(packetsPerSecond: 50)

    /// Packets of 20 ms with a size and a first byte.
    private func run(_ packets: [(size: Int, byte: UInt8)], first: Int = 0) throws -> PacketRun {
        PacketRun(
            first: first,
            packets: try packets.enumerated().map { number, content in
                let packet = try Packet()
                try check(av_new_packet(packet.pointer, Int32(content.size)), "make a packet")
                for index in 0..<content.size { packet.pointer.pointee.data[index] = 0 }
                packet.pointer.pointee.data[0] = content.byte
                packet.pointer.pointee.pts = Int64((first + number) * 960)
                return try EncodedPacket(taking: packet)
            })
    }

    /// Packets that differ from those of an encoder which makes zeros.
    private func others(_ count: Int, size: Int = 100) -> [(size: Int, byte: UInt8)] {
        Array(repeating: (size, 1), count: count)
    }

    private func equals(_ count: Int) -> [(size: Int, byte: UInt8)] { Array(repeating: (100, 0), count: count) }

    @Test func `a joint is before six equal packets`() throws {
        let running = try run(equals(60))
        let next = try run(others(24) + equals(40), first: 30)
        let joined = try joint.join(running, next, at: 54) { _ in true }
        #expect(joined?.kept.count == 54 && joined?.dropped == 24)
        let early = try joint.join(running, next, at: 55) { _ in true }
        #expect(early == nil, "five packets behind the planned place are not enough")
        let differing = try run(others(25) + equals(40), first: 30)
        let none = try joint.join(running, differing, at: 54) { _ in true }
        #expect(none == nil, "one of the six differs")
        let short = try run(others(24) + equals(5), first: 30)
        let missing = try joint.join(running, short, at: 54) { _ in true }
        #expect(missing == nil, "the last one is missing")
    }

    @Test func `there is no joint at equal packets if others have different sizes`() throws {
        let running = try run(equals(60))
        // Those of the first 240 ms do not count.
        let converged = try run(others(12, size: 200) + others(12, size: 101) + equals(40), first: 30)
        let larger = try run(others(12) + others(12, size: 103) + equals(40), first: 30)
        #expect(try joint.join(running, converged, at: 54) { _ in true } != nil)
        #expect(try joint.join(running, larger, at: 54) { _ in true } == nil)
    }

    @Test func `without equal packets, the last joint needs equal sizes`() throws {
        let running = try run(equals(100))
        let alike = try run(others(80, size: 101), first: 30)
        #expect(try joint.join(running, alike, at: 54) { _ in true } == nil)
        let last = try joint.lastJoin(running, alike, at: 54) { _ in true }
        #expect(last?.kept.count == 94 && last?.dropped == 64)
        let larger = try run(others(80, size: 102), first: 30)
        #expect(try joint.lastJoin(running, larger, at: 54) { _ in true } == nil)
    }

    /// The packets of noise at full scale, whose segments have 15 s, as several threads make them, or one encoder.
    private static func packets(seconds: Double, threads: Int?, pause: Duration = .zero) async throws -> (
        packets: [[UInt8]], report: SegmentReport
    ) {
        try await onThread {
            let shape = SampleShape(format: AV_SAMPLE_FMT_FLT, rate: 8000, layout: ChannelLayout(defaultFor: 1))
            let settings = try EncodingSettings.resolve(Rendition(format: "opus"), shape, .lossy)
            let first = SegmentEncoder(try Encoder.open(settings, globalHeader: true), start: 0)
            let frame = try Frame()
            let packet = try Packet()
            var (packets, noise) = ([[UInt8]](), Noise(state: 3))
            func frames(_ body: () throws -> Void) throws {
                for number in 0..<Int(seconds * 50) {
                    try frame.reserve(160, shape)
                    for index in 0..<160 { frame.floats(0)[index] = noise.next() & 1 == 0 ? 0.98 : -0.98 }
                    frame.pointer.pointee.pts = Int64(160 * number)
                    try body()
                }
            }
            guard let threads else {
                func take() throws {
                    while try first.encoder.receive(into: packet) { packets.append(Array(packet.bytes)) }
                }
                try frames {
                    try first.encoder.send(frame)
                    try take()
                }
                try first.encoder.sendEnd()
                try take()
                return (packets, SegmentReport())
            }
            let pool = try #require(
                try SegmentPool(
                    first, settings, globalHeader: true, threads: ThreadBudget(threads, isFixed: true),
                    stop: CancellationFlag()))
            func take() throws { while try pool.receive(into: packet) { packets.append(Array(packet.bytes)) } }
            try frames {
                try pool.send(frame)
                try take()
            }
            // As long as a live source has no more frames, the encoders wait for them.
            let end = ContinuousClock.now + pause
            while ContinuousClock.now < end {
                usleep(10_000)
                try take()
            }
            try pool.sendEnd()
            try take()
            return (packets, pool.report)
        }
    }

    /// An encoder makes packets of Opus that are 30 % too large for three seconds behind the start of such noise.
    @Test func `the encoder before goes on until packets are equal`() async throws {
        let serial = try await Self.packets(seconds: 32, threads: nil).packets
        let two = try await Self.packets(seconds: 32, threads: 2)
        #expect(two.report == SegmentReport(segments: 3, joints: 1, fallbacks: 1))
        #expect(two.packets.count == serial.count)
        let same = zip(two.packets, serial).prefix { $0 == $1 }.count
        #expect(same > 18 * 50, "the joint is not at 15 s, but seconds later")
        for threads in [4, 7] {
            let other = try await Self.packets(seconds: 32, threads: threads)
            #expect(other.packets == two.packets && other.report == two.report)
        }
    }

    @Test func `the encoder before makes the rest if the stream ends before packets are equal`() async throws {
        let serial = try await Self.packets(seconds: 17.3, threads: nil).packets
        for (threads, pause) in [(2, 0), (4, 0), (2, 300)] {
            let result = try await Self.packets(
                seconds: 17.3, threads: threads, pause: .milliseconds(pause))
            #expect(result.report == SegmentReport(segments: 2, joints: 0, fallbacks: 1))
            #expect(result.packets == serial)
        }
    }
}
