import Bytes
import CLibav
import Filters
import FoundationEssentials
import Libav
import MediaTypes
import Testing

@Suite struct SoundPathTests {
    /// The stages, and what `docs/sound.md` calls them.
    private static let order = [
        ("FloatRepair", "Invalid floats."), ("ChannelMap", "`channel_map`"), ("MixStage", "`mix`"),
        ("MixStage", "The result's own layout"), ("CutoffFilter", "`high_pass`"),
        ("CutoffFilter", "`low_pass`"), ("TrimStage", "`trim_silence`"),
        ("TempoStage", "`tempo`"), ("SoundLevel", "`loudness` or `gain`."),
        ("SoundLevel", "`fade_in` and `fade_out`"), ("SampleConverter", "The sample rate"),
        ("OutputLevel", "The limiter"), ("SampleConverter", "Integers."),
    ]

    @Test func `stages are in the order of the page`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/sound.md")
        let headings = try String(contentsOf: page, encoding: .utf8).matches(of: /(?m)^\d+\. \*\*(.*?)\*\*/)
        #expect(headings.map { String($0.1) } == Self.order.map(\.1))

        var rendition = Rendition(format: "wav", sampleRate: 44_100, sampleFormat: .s16)
        rendition.sound.channelMap = ChannelReference.list(parsing: "R,L")
        rendition.sound.mix = MixMatrix(parsing: "FL=FR,FR=FL")
        rendition.sound.highPass = 100
        rendition.sound.lowPass = 8000
        rendition.sound.trimSilence = SilenceTrim(threshold: -60)
        rendition.sound.tempo = Tempo(parsing: "1.5")
        rendition.sound.loudness = -16
        rendition.sound.fadeIn = MediaTime(parsing: "1")
        let shape = SampleShape(format: AV_SAMPLE_FMT_FLT, rate: 48_000, layout: ChannelLayout(defaultFor: 2))
        let settings = try EncodingSettings.resolve(rendition, shape, .float32)
        let path = try SoundPath(rendition.sound, shape, .float32, settings, nil)
        // The level and the fades are one stage.
        let expected = Self.order.map(\.0).enumerated().filter { $0.offset != 9 }.map(\.element)
        #expect(path.stages.map { "\(type(of: $0))" } == expected)
    }

    @Test func `a path that changes nothing passes each frame as it is`() throws {
        let shape = SampleShape(format: AV_SAMPLE_FMT_S16, rate: 48_000, layout: ChannelLayout(defaultFor: 2))
        let settings = try EncodingSettings.resolve(Rendition(format: "wav"), shape, .integer(bits: 16))
        let path = try SoundPath(SoundSettings(), shape, .integer(bits: 16), settings, nil)
        let frame = try Frame()
        try frame.reserve(480, shape)
        var passed = false
        try path.append(frame) { (changed: borrowing Frame) throws(MediaError) in
            passed = changed.planes[0] == frame.planes[0] && changed.samples == 480
        }
        #expect(passed)
    }
}
