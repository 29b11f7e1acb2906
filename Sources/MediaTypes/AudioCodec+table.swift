extension AudioCodec {
    /// The table of codecs, with one row each.
    static func row(_ id: ID) -> AudioCodec {
        switch id {
        case .mp3:
            AudioCodec(
                id, .lossy, sampleRates: [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000],
                maxChannels: 2, layouts: stereo, bitRates: 8000...320_000, bitRateRule: .layerThree,
                bitRateSteps: layerThreeBitRates(sampleRate: nil), qualities: 0...9, defaultQuality: nil,
                controls: EncoderControls(
                    compressionLevels: 0...9, bitRateModes: [.cbr, .abr],
                    bitRateModeOption: .init(name: "abr", values: [.cbr: "0", .abr: "1"])),
                encoder: .named("libmp3lame"), input: .planarShortOrFloat,
                edges: CodecEdges(padding: .delay, declared: .lastInMatroska, areMarked: false, copied: .neither),
                packets: .plain, words: .streamed("mp4a.40.34", in: [.fmp4, .mpegts]), lowersLevel: true,
                tensOfHertzFrom: nil,
                joint: EncoderJoint(
                    .bitReservoir, seconds: 15...30, period: 147, lead: .frames(4), tail: .frames(24), reach: 40))
        case .aac:
            AudioCodec(
                id, .lossy,
                sampleRates: [
                    7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000,
                ],
                maxChannels: 8, layouts: stereo + ["3.0", "4.0", "5.0", "5.1", "6.1", "7.1"],
                bitRates: 8000...4_608_000, bitRateRule: .bitReservoir, qualities: 0.1...2,
                defaultQuality: nil,
                controls: EncoderControls(
                    compressionLevels: 0...1,
                    compressionLevelOption: .init(name: "aac_coder", values: [0: "fast", 1: "twoloop"]),
                    bitRateModes: [.abr]),
                encoder: .named("aac"), input: .float,
                edges: CodecEdges(padding: .delay, declared: .lastInMatroska, areMarked: true, copied: .neither),
                packets: .plain,
                words: CodecWords(
                    loudness: .replayGain, usesITunSMPB: true, holdsSum: false,
                    streaming: .init(parameter: "mp4a.40.2", containers: [.fmp4, .mpegts])),
                lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(
                    .windows, seconds: 60...60, lead: .frames(64), bitRateRaise: .init(frames: 50, factor: 3),
                    tail: .frames(10), reach: 1, limits: .init(highestQuality: 1, maxChannels: 2)))
        case .alac:
            AudioCodec(
                id, .lossless, maxChannels: 8,
                layouts: stereo + ["3.0", "4.0", "5.0", "5.1", "6.1(back)", "7.1(wide)"], bitRateRule: .none,
                defaultQuality: nil, controls: EncoderControls(compressionLevels: 0...2), sampleFormats: [.s16, .s24],
                encoder: .named("alac"), input: .planarShortOrLong,
                edges: .none, packets: .plain, words: .streamed("alac", in: [.fmp4]), lowersLevel: false,
                tensOfHertzFrom: nil, joint: EncoderJoint(.planned, isExact: true))
        case .flac:
            AudioCodec(
                id, .lossless, highestSampleRate: 655_340, maxChannels: 8, bitRateRule: .none, defaultQuality: nil,
                controls: EncoderControls(compressionLevels: 0...12), sampleFormats: [.s16, .s24],
                encoder: .named("flac"), input: .shortOrLong, edges: .none,
                packets: .plain,
                words: CodecWords(
                    loudness: .replayGain, usesITunSMPB: false, holdsSum: true,
                    streaming: .init(parameter: "fLaC", containers: [.fmp4])),
                lowersLevel: false,
                // A frame header has 16 bits for Hz or tens of Hz (RFC 9639). libavcodec does not use the highest value of
                // either.
                tensOfHertzFrom: 65_535,
                joint: EncoderJoint(.frameNumbers, isExact: true, startsLate: false))
        case .vorbis:
            AudioCodec(
                id, .lossy, lowestSampleRate: 8000, highestSampleRate: 192_000, maxChannels: 8, layouts: xiph,
                bitRates: 6000...2_000_000, bitRateRule: .vorbisModes, qualities: -1...10, defaultQuality: 4,
                controls: EncoderControls(bitRateModes: [.vbr]), encoder: .named("libvorbis"), input: .float,
                edges: CodecEdges(padding: .delay, declared: .everywhere, areMarked: true, copied: .last),
                // If there is only one page, libav miscounts the first packet: it keeps padding, or removes too much.
                packets: CodecPackets(
                    areKept: true, isLengthDeclared: true, length: .setup, decodedRate: nil, copySlack: 8192),
                words: .none, lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(
                    .equalPackets, seconds: 40...40, period: 16, attackSearch: .milliseconds(20_000),
                    lead: .milliseconds(500), fade: .milliseconds(400), tail: .milliseconds(7500),
                    step: .milliseconds(1000)))
        case .opus:
            AudioCodec(
                id, .lossy, sampleRates: [8000, 12000, 16000, 24000, 48000], maxChannels: 8, layouts: xiph,
                bitRates: 6000...2_048_000, bitRateRule: .opusFrame, defaultQuality: nil,
                controls: EncoderControls(
                    compressionLevels: 0...10, bitRateModes: [.vbr, .cbr],
                    bitRateModeOption: .init(name: "vbr", values: [.vbr: "on", .cbr: "off"]),
                    applications: OpusApplication.allCases, frameDurations: [2.5, 5, 10, 20, 40, 60, 80, 100, 120]),
                encoder: .named("libopus"), input: .shortOrFloat,
                edges: CodecEdges(padding: .delay, declared: .everywhere, areMarked: false, copied: .both),
                packets: CodecPackets(
                    areKept: true, isLengthDeclared: true, length: .frame, decodedRate: 48_000, copySlack: 0),
                words: CodecWords(
                    loudness: .r128, usesITunSMPB: false, holdsSum: false,
                    streaming: .init(parameter: "Opus", containers: [.fmp4])),
                lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(
                    .convergedPackets, seconds: 15...30, lead: .milliseconds(480), tail: .milliseconds(7000),
                    step: .milliseconds(120), limits: .init(lowestBitRate: 64_000, lowestChannelBitRate: 48_000)))
        case .pcm:
            AudioCodec(
                id, .pcm, highestSampleRate: 768_000, maxChannels: 64, bitRateRule: .none, defaultQuality: nil,
                sampleFormats: SampleFormat.allCases, encoder: .ofSamples(prefix: "pcm_"), input: .stored, edges: .none,
                packets: .regrouped, words: .none, lowersLevel: false, tensOfHertzFrom: nil, joint: nil)
        case .wavpack:
            AudioCodec(
                id, .lossless, maxChannels: 8, bitRateRule: .none, defaultQuality: nil,
                controls: EncoderControls(compressionLevels: 0...8), sampleFormats: [.s16, .s24, .s32, .f32],
                encoder: .named("wavpack"), input: .planarStored,
                edges: .none, packets: .plain, words: .none, lowersLevel: false, tensOfHertzFrom: nil, joint: nil)
        case .tta:
            AudioCodec(
                id, .lossless, maxChannels: 8,
                layouts: stereo + ["2.1", "quad", "5.1", "6.1(back)", "7.1(wide)"], bitRateRule: .none,
                defaultQuality: nil, sampleFormats: [.s16, .s24], encoder: .named("tta"), input: .shortOrLong,
                edges: .none, packets: .plain, words: .none, lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(.planned, isExact: true))
        case .ac3:
            AudioCodec(
                id, .lossy, sampleRates: [32000, 44100, 48000], maxChannels: 6, layouts: dolby,
                bitRates: 32_000...640_000, bitRateRule: .dolby, bitRateSteps: dolbyBitRates(channels: nil),
                defaultQuality: nil, controls: EncoderControls(bitRateModes: [.cbr]), encoder: .named("ac3"),
                input: .float, edges: .delayedOutput, packets: .plain,
                words: .streamed("ac-3", in: [.fmp4, .mpegts]), lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(.planned, period: 147, lead: .frames(1), tail: .frames(2), isExact: true))
        case .eac3:
            AudioCodec(
                id, .lossy, sampleRates: [32000, 44100, 48000], maxChannels: 6, layouts: dolby,
                bitRates: 32_000...1_008_000, bitRateRule: .dolbyPlusFrame, defaultQuality: nil,
                controls: EncoderControls(bitRateModes: [.cbr]), encoder: .named("eac3"), input: .float,
                edges: .delayedOutput, packets: .plain,
                words: .streamed("ec-3", in: [.fmp4, .mpegts]), lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(
                    .planned, period: 147, lead: .frames(1), tail: .frames(2), isExact: true,
                    limits: .init(bitRateUnit: 1000)))
        case .mp2:
            AudioCodec(
                id, .lossy, sampleRates: [16000, 22050, 24000, 32000, 44100, 48000], maxChannels: 2, layouts: stereo,
                bitRates: 8000...384_000, bitRateRule: .layerTwo,
                bitRateSteps: layerTwoBitRates(sampleRate: nil, channels: nil), defaultQuality: nil,
                controls: EncoderControls(bitRateModes: [.cbr]),
                // libav's own encoder accepts bit rates that the standard forbids for the number of channels.
                encoder: .named("libtwolame"), input: .shortOrFloat,
                edges: CodecEdges(padding: .delayBehind, declared: .lastInMatroska, areMarked: true, copied: .neither),
                packets: .plain, words: .none, lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(.planned, period: 147, lead: .frames(1), tail: .frames(2), isExact: true))
        case .speex:
            AudioCodec(
                id, .lossy, sampleRates: [8000, 16000, 32000], maxChannels: 2, layouts: stereo,
                bitRates: 2150...44_800, bitRateRule: .speexModes,
                bitRateSteps: speexBitRates(sampleRate: nil, channels: nil), qualities: 0...10, defaultQuality: nil,
                controls: EncoderControls(compressionLevels: 0...10, bitRateModes: [.cbr]),
                encoder: .named("libspeex"), input: .short,
                edges: CodecEdges(
                    padding: .delayBehindAndLate([8000: 40, 16_000: 80, 32_000: 160]), declared: .nowhere,
                    areMarked: false, copied: .neither),
                packets: CodecPackets(
                    areKept: true, isLengthDeclared: false, length: .frame, decodedRate: nil, copySlack: 0),
                words: .none, lowersLevel: false, tensOfHertzFrom: nil,
                // libspeex mixes two channels in the frame's own memory, which encoders share.
                joint: EncoderJoint(
                    .planned, lead: .milliseconds(1000), tail: .frames(2), limits: .init(maxChannels: 1)))
        case .gsm:
            AudioCodec(
                id, .lossy, sampleRates: [8000], maxChannels: 1, layouts: ["mono"], bitRateRule: .none,
                defaultQuality: nil, encoder: .named("libgsm"), input: .short, edges: .none, packets: .regrouped,
                words: .none, lowersLevel: false, tensOfHertzFrom: nil, joint: nil)
        case .ima4:
            AudioCodec(
                id, .lossy, highestSampleRate: 192_000, maxChannels: 2, layouts: stereo, bitRateRule: .none,
                defaultQuality: nil, encoder: .named("adpcm_ima_qt"), input: .planarShort,
                edges: CodecEdges(padding: .delay, declared: .nowhere, areMarked: false, copied: .neither),
                packets: .regrouped, words: .none, lowersLevel: false, tensOfHertzFrom: nil, joint: nil)
        case .wma:
            AudioCodec(
                id, .lossy, sampleRates: [8000, 11025, 16000, 22050, 32000, 44100, 48000], maxChannels: 2,
                layouts: stereo, bitRates: 24_000...320_000, bitRateRule: .unbounded, defaultQuality: nil,
                controls: EncoderControls(bitRateModes: [.cbr]), encoder: .named("wmav2"), input: .float,
                edges: CodecEdges(
                    padding: .wholeFrames, declared: .elsewhereThanInMatroska, areMarked: false, copied: .neither),
                packets: .plain, words: .none, lowersLevel: false, tensOfHertzFrom: nil,
                joint: EncoderJoint(.planned, lead: .frames(2), tail: .frames(2), isExact: true))
        }
    }

    private static let stereo = ["mono", "stereo"]
    /// The layouts of Vorbis, also used by Opus (RFC 7845), and those that FLAC's channel counts imply (RFC 9639).
    package static let xiph = stereo + ["3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
    private static let dolby = stereo + ["3.0", "2.1", "4.0", "3.1", "5.0(side)", "4.1", "5.1(side)"]

    /// The prefixes of the names of audio codecs in playlists (RFC 6381).
    package static let parameterPrefixes = [
        "mp4a", "ac-3", "ec-3", "ac-4", "flac", "fLaC", "Opus", "opus", "alac", "mp3",
    ]
}

extension CodecEdges {
    /// The encoders of AC-3 and E-AC-3.
    fileprivate static let delayedOutput = CodecEdges(
        padding: .delayBehind, declared: .elsewhereThanInMatroska, areMarked: false, copied: .neither)
}

extension CodecWords {
    fileprivate static func streamed(
        _ parameter: String, in containers: [SegmentSettings.Container]
    ) -> CodecWords {
        CodecWords(
            loudness: .replayGain, usesITunSMPB: false, holdsSum: false,
            streaming: .init(parameter: parameter, containers: containers))
    }
}
