import CLibav
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// What the encoder of a segment gets in its lead.
@Suite(.timeLimit(.minutes(5))) struct SegmentEncoderTests {
    private static var shape: SampleShape {
        SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: 8000, layout: ChannelLayout(defaultFor: 1))
    }

    /// Gives frames of noise to a body, with their numbers.
    private static func frames(_ numbers: Range<Int>, _ body: (borrowing Frame) throws -> Void) throws {
        let frame = try Frame()
        for number in numbers {
            var noise = Noise(state: UInt64(number + 1))
            try frame.reserve(1024, shape)
            for index in 0..<1024 { frame.floats(0)[index] = noise.next() & 1 == 0 ? 0.3 : -0.3 }
            frame.pointer.pointee.pts = Int64(1024 * number)
            try body(frame)
        }
    }

    /// The packets of the second segment with 70 s of audio, as two threads make them, by their time.
    private static func joined(_ settings: EncodingSettings, frames count: Int) throws -> [Int64: [UInt8]] {
        let first = SegmentEncoder(try Encoder.open(settings, globalHeader: true), start: 0)
        let pool = try #require(
            try SegmentPool(
                first, settings, globalHeader: true, threads: ThreadBudget(2, isFixed: true), stop: CancellationFlag()
            ))
        let packet = try Packet()
        var packets: [Int64: [UInt8]] = [:]
        func take() throws {
            while try pool.receive(into: packet) { packets[packet.pointer.pointee.pts] = Array(packet.bytes) }
        }
        try frames(0..<count) { frame in
            try pool.send(frame)
            try take()
        }
        try pool.sendEnd()
        try take()
        #expect(pool.report == SegmentReport(segments: 2, joints: 1, fallbacks: 0))
        return packets
    }

    @Test(arguments: [
        (Rendition(format: "m4a", codec: "aac", bitRate: 24_000), 72_000),
        (Rendition(format: "m4a", codec: "aac", quality: 1), nil),
    ])
    func `a segment of AAC with a bit rate begins with three times that rate for 50 frames`(
        rendition: Rendition, raised: Int?
    ) async throws {
        try await onThread {
            let settings = try EncodingSettings.resolve(rendition, Self.shape, .lossy)
            // A segment has 60 s, rounded up to frames.
            let (start, count) = (469, 620)
            let joined = try Self.joined(settings, frames: count)
            let alone = try Encoder.open(settings, globalHeader: true)
            let packet = try Packet()
            let bitRate = alone.context.pointee.bit_rate
            var (number, equal) = (start, 0)
            try Self.frames(start..<count) { frame in
                if let raised { alone.context.pointee.bit_rate = number < start + 50 ? Int64(raised) : bitRate }
                number += 1
                try alone.send(frame)
                while try alone.receive(into: packet) {
                    if joined[packet.pointer.pointee.pts] == Array(packet.bytes) { equal += 1 }
                }
            }
            #expect(equal >= count - start - 64 - 12, "the packets behind the joint are those of such an encoder")
        }
    }
}
