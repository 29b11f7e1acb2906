extension AudioCodec {
    package static let all: [AudioCodec] = [
        AudioCodec(
            "mp3", .lossy, sampleRates: [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000], maxChannels: 2,
            layouts: stereo, bitRates: 8000...320_000, bitRateSteps: layerThreeBitRates(sampleRate: nil),
            qualities: 0...9),
        AudioCodec(
            "aac", .lossy,
            sampleRates: [7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000],
            maxChannels: 8, layouts: stereo + ["3.0", "4.0", "5.0", "5.1", "6.1", "7.1"], bitRates: 8000...4_608_000),
        AudioCodec(
            "alac", .lossless, maxChannels: 8,
            layouts: stereo + ["3.0", "4.0", "5.0", "5.1", "6.1(back)", "7.1(wide)"], sampleFormats: [.s16, .s24]),
        AudioCodec("flac", .lossless, highestSampleRate: 655_340, maxChannels: 8, sampleFormats: [.s16, .s24]),
        AudioCodec(
            "vorbis", .lossy, lowestSampleRate: 8000, highestSampleRate: 192_000, maxChannels: 8, layouts: xiph,
            bitRates: 6000...2_000_000, qualities: -1...10),
        AudioCodec(
            "opus", .lossy, sampleRates: [8000, 12000, 16000, 24000, 48000], maxChannels: 8, layouts: xiph,
            bitRates: 6000...2_048_000),
        AudioCodec("pcm", .pcm, highestSampleRate: 768_000, maxChannels: 64, sampleFormats: SampleFormat.allCases),
        AudioCodec("wavpack", .lossless, maxChannels: 8, sampleFormats: [.s16, .s24, .s32, .f32]),
        AudioCodec(
            "tta", .lossless, maxChannels: 8,
            layouts: stereo + ["2.1", "quad", "5.1", "6.1(back)", "7.1(wide)"], sampleFormats: [.s16, .s24]),
        AudioCodec(
            "ac3", .lossy, sampleRates: [32000, 44100, 48000], maxChannels: 6, layouts: dolby,
            bitRates: 32_000...640_000, bitRateSteps: dolbyBitRates(channels: nil)),
        AudioCodec(
            "eac3", .lossy, sampleRates: [32000, 44100, 48000], maxChannels: 6, layouts: dolby,
            bitRates: 32_000...1_008_000),
        AudioCodec(
            "mp2", .lossy, sampleRates: [16000, 22050, 24000, 32000, 44100, 48000], maxChannels: 2, layouts: stereo,
            bitRates: 8000...384_000, bitRateSteps: layerTwoBitRates(sampleRate: nil, channels: nil)),
        AudioCodec(
            "speex", .lossy, sampleRates: [8000, 16000, 32000], maxChannels: 2, layouts: stereo,
            bitRates: 2150...44_800, bitRateSteps: speexBitRates(sampleRate: nil, channels: nil), qualities: 0...10),
        AudioCodec("gsm", .lossy, sampleRates: [8000], maxChannels: 1, layouts: ["mono"]),
        AudioCodec("ima4", .lossy, highestSampleRate: 192_000, maxChannels: 2, layouts: stereo),
        AudioCodec(
            "wma", .lossy, sampleRates: [8000, 11025, 16000, 22050, 32000, 44100, 48000], maxChannels: 2,
            layouts: stereo, bitRates: 24_000...320_000),
    ]

    private static let stereo = ["mono", "stereo"]
    /// The layouts of Vorbis, also used by Opus (RFC 7845), and those that FLAC's channel counts imply (RFC 9639).
    package static let xiph = stereo + ["3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
    private static let dolby = stereo + ["3.0", "2.1", "4.0", "3.1", "5.0(side)", "4.1", "5.1(side)"]
}
