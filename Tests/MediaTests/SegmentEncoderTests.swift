import CLibav
import Libav
import MediaTypes
import TestSupport
import Testing

@testable import Encoders

/// What the encoder of a segment gets in its lead.
@Suite(.timeLimit(.minutes(1))) struct SegmentEncoderTests {
    /// The bit rate with which an encoder of AAC encodes each of 60 frames.
    private static func bitRates(_ rendition: Rendition) throws -> [Int] {
        let shape = SampleShape(format: AV_SAMPLE_FMT_FLTP, rate: 44_100, layout: ChannelLayout(defaultFor: 2))
        let settings = try EncodingSettings.resolve(rendition, shape, .lossy)
        let segment = SegmentEncoder(
            try Encoder.open(settings, globalHeader: true), start: 2584, raisedBitRate: settings.raisedBitRate)
        let frame = try Frame()
        let packet = try Packet()
        return try (0..<60).map { number in
            try frame.reserve(1024, shape)
            frame.silence(shape)
            frame.pointer.pointee.pts = Int64(1024 * number)
            try segment.send(frame)
            while try segment.encoder.receive(into: packet) {}
            return Int(segment.encoder.context.pointee.bit_rate)
        }
    }

    @Test func `the bit rate of AAC is raised at the start of a segment, and the stream's again before the joint`()
        async throws
    {
        let rates = try await onThread {
            try Self.bitRates(Rendition(format: "m4a", codec: "aac", bitRate: 128_000))
        }
        #expect(rates[..<50].allSatisfy { $0 == 384_000 })
        #expect(rates[50...].allSatisfy { $0 == 128_000 })
    }

    @Test func `AAC of a constant quality has no bit rate to raise`() async throws {
        let rates = try await onThread { try Self.bitRates(Rendition(format: "m4a", codec: "aac", quality: 1)) }
        #expect(Set(rates).count == 1)
    }
}
