import Encoding
import MediaTypes
import Testing

@testable import Libav

@Suite struct ConversionResultTests {
    @Test func `a result has a bit rate only if it has a duration`() throws {
        let shape = SampleShape(format: SampleFormat.s16.decoded, rate: 8000, layout: ChannelLayout(defaultFor: 1))
        let settings = try EncodingSettings.resolve(Rendition(format: "wav"), shape, .integer(bits: 16))
        let rates = [Int64(0), 4000].map { samples in
            ConversionResult(
                settings, samples: samples, bytes: 8044, gapless: Gapless(start: 0, end: 0), effective: [:],
                warnings: []
            ).bitRate
        }
        #expect(rates == [0, 128_704])
    }
}
