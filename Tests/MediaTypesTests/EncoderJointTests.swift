import Testing

@testable import MediaTypes

@Suite struct EncoderJointTests {
    private static func frames(_ codec: AudioCodec.ID, _ expected: Double?) throws -> Int {
        let frameSize = codec == .flac ? 4608 : 1152
        return try #require(AudioCodec.row(codec).joint).frames(
            rate: 44_100, frameSize: frameSize, frameBytes: 4 * frameSize, expected: expected)
    }

    /// 147 frames of MP3 are 3.84 s.
    @Test(
        arguments: [
            (nil, 4), (-5, 4), (.nan, 4), (.infinity, 8), (60, 4), (360, 4), (600, 7), (720, 8), (36_000, 8),
        ] as [(Double?, Int)])
    func `a segment is a 24th of the expected length, from 15 to 30 s`(expected: Double?, periods: Int) throws {
        #expect(try Self.frames(.mp3, expected) == 147 * periods)
    }

    @Test func `long segments are limited by their memory`() throws {
        // 750 frames are 15 s; 1092 take 8 MiB.
        let joint = try #require(AudioCodec.row(.opus).joint)
        for expected: Double? in [nil, 36_000] {
            #expect(joint.frames(rate: 48_000, frameSize: 960, frameBytes: 6 * 4 * 960, expected: expected) == 750)
        }
        #expect(joint.frames(rate: 48_000, frameSize: 960, frameBytes: 2 * 4 * 960, expected: 36_000) == 1092)
    }

    @Test func `segments without overlaps stay short`() throws {
        #expect(try Self.frames(.flac, 36_000) == 144)
        #expect(try #require(AudioCodec.row(.flac).joint).sharesEncoders)
        #expect(try !#require(AudioCodec.row(.mp3).joint).sharesEncoders)
        #expect(try !#require(AudioCodec.row(.ac3).joint).sharesEncoders)
    }
}
