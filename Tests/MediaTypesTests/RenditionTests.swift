import MediaTypes
import Testing

@Suite struct RenditionTests {
    @Test(arguments: AudioFormat.all.flatMap { format in format.codecs.map { (format.name, $0) } })
    func `every pair in the table is accepted`(_ format: String, _ codec: String) throws {
        let named = try Rendition(format: format, codec: codec).validate()
        #expect(named.format.name == format)
        #expect(named.codec.name == codec)
    }

    @Test func `the usual codec is taken if none is named`() throws {
        #expect(try Rendition(format: "m4a").validate().codec.name == "aac")
        #expect(try Rendition(format: "caf").validate().codec.name == "pcm")
    }

    @Test(arguments: [
        (Rendition(format: "xyz"), "format", "there is no format 'xyz'; the formats are mp3, m4a"),
        (Rendition(format: "mp3", codec: "flac"), "codec", "format mp3 does not support codec 'flac'; it supports mp3"),
        (Rendition(format: "mp3", bitRate: 100_000), "bit_rate", "96000, 112000"),
        (
            Rendition(format: "mp3", bitRate: 320_000, sampleRate: 22_050), "bit_rate",
            "mp3 at 22050 Hz does not support"
        ),
        (Rendition(format: "mp3", bitRate: 8000, sampleRate: 44_100), "bit_rate", "it supports 32000, 40000"),
        (Rendition(format: "m4a", bitRate: 800_000, sampleRate: 44_100, channels: 2), "bit_rate", "8000 to 529200"),
        (Rendition(format: "opus", bitRate: 600_000, channels: 2), "bit_rate", "6000 to 512000"),
        (Rendition(format: "ogg", bitRate: 500_000, sampleRate: 8000, channels: 2), "bit_rate", "12000 to 84000"),
        (Rendition(format: "ogg", bitRate: 128_000, sampleRate: 96_000), "bit_rate", "give quality instead"),
        (Rendition(format: "flac", bitRate: 100_000), "bit_rate", "lossless"),
        (Rendition(format: "mp3", quality: 10), "quality", "0.0 to 9.0"),
        (Rendition(format: "ac3", quality: 1), "quality", "no quality scale"),
        (Rendition(format: "m4a", quality: 3), "quality", "it supports 0.1 to 2.0"),
        (Rendition(format: "mp3", bitRate: 128_000, quality: 2), "quality", "mutually exclusive"),
        (Rendition(format: "mp3", sampleRate: 96_000), "sample_rate", "44100, 48000 Hz"),
        (Rendition(format: "opus", sampleRate: 44_100), "sample_rate", "8000, 12000, 16000, 24000, 48000 Hz"),
        (Rendition(format: "flac", sampleRate: 88_201), "sample_rate", "from 65535 only multiples of 10"),
        (Rendition(format: "mp3", channels: 6), "channels", "it supports 1 to 2"),
        (Rendition(format: "wav", channels: 0), "channels", "it supports 1 to 64"),
        (Rendition(format: "wav", sampleFormat: .s16be), "sample_format", "wav does not support sample_format s16be"),
        (
            Rendition(format: "mp2", bitRate: 80_000, sampleRate: 48_000, channels: 2), "bit_rate",
            "it supports 64000, 96000"
        ),
        (Rendition(format: "mp2", bitRate: 224_000, sampleRate: 48_000, channels: 1), "bit_rate", "160000, 192000"),
        (Rendition(format: "ac3", bitRate: 112_000, channels: 6), "bit_rate", "it supports 128000, 160000"),
        (Rendition(format: "ac3", bitRate: 650_000), "bit_rate", "576000, 640000"),
        (Rendition(format: "eac3", bitRate: 672_001, sampleRate: 32_000, channels: 2), "bit_rate", "64000 to 672000"),
        (Rendition(format: "speex", bitRate: 24_600, sampleRate: 8000, channels: 2), "bit_rate", "19000, 25400"),
        (Rendition(format: "wma", bitRate: 23_999), "bit_rate", "24000 to 320000"),
        (Rendition(format: "gsm", bitRate: 13_000), "bit_rate", "single bit rate"),
        (Rendition(format: "gsm", sampleRate: 16_000), "sample_rate", "it supports 8000 Hz"),
        (Rendition(format: "gsm", channels: 2), "channels", "it supports 1 to 1"),
        (Rendition(format: "tta", channels: 5), "channels", "it supports 1, 2, 3, 4, 6, 7, 8"),
        (Rendition(format: "speex", sampleRate: 44_100), "sample_rate", "8000, 16000, 32000 Hz"),
        (Rendition(format: "ac3", sampleRate: 96_000), "sample_rate", "32000, 44100, 48000 Hz"),
        (Rendition(format: "caf", codec: "opus", sampleRate: 16_000), "sample_rate", "opus in caf does not support"),
        (Rendition(format: "mp4", codec: "mp3", sampleRate: 8000), "sample_rate", "it supports 16000, 22050"),
        (Rendition(format: "mka", codec: "tta"), "codec", "format mka does not support codec 'tta'"),
        (Rendition(format: "m4a", codec: "flac"), "codec", "it supports aac, alac"),
        (Rendition(format: "wav", codec: "vorbis"), "codec", "it supports pcm, mp3, ac3"),
        (Rendition(format: "opus", channelLayout: "4.0"), "channel_layout", "it supports mono, stereo, 3.0, quad"),
        (Rendition(format: "wav", channelLayout: "6.2"), "channel_layout", "there is no channel_layout '6.2'"),
        (Rendition(format: "wav", channels: 2, channelLayout: "5.1"), "channel_layout", "has 6 channels"),
        (Rendition(format: "flac", sampleFormat: .f32), "sample_format", "it supports s16, s24"),
        (Rendition(format: "mp3", sampleFormat: .s16), "sample_format", "leave sample_format out"),
    ])
    func `a refusal is a sentence that names the fix`(_ rendition: Rendition, _ field: String, _ words: String) {
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.field == field)
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }

    @Test(arguments: [
        ("flac", nil, 13, "flac does not support compression_level 13; it supports 0 to 12"),
        ("m4a", "alac", 3, "it supports 0 to 2"), ("wv", nil, 9, "it supports 0 to 8"),
        ("opus", nil, 11, "it supports 0 to 10"), ("mp3", nil, 10, "it supports 0 to 9"),
        ("wav", nil, 5, "pcm has no compression levels, and compression_level is 5; leave compression_level out"),
        ("m4a", nil, 2, "it supports 0 to 1"), ("ac3", nil, 5, "ac3 has no compression levels"),
    ])
    func `a compression level that the encoder lacks is refused`(
        _ format: String, _ codec: String?, _ level: Int, _ words: String
    ) throws {
        var rendition = Rendition(format: format, codec: codec)
        rendition.encoder.compressionLevel = level
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.field == "compression_level")
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }

    @Test(
        arguments: [
            (Rendition(format: "ac3"), .vbr, "ac3 does not support bit_rate_mode vbr; it supports cbr"),
            (Rendition(format: "opus"), .abr, "it supports vbr, cbr"),
            (Rendition(format: "m4a"), .cbr, "it supports abr, vbr"),
            (Rendition(format: "m4a"), .vbr, "requires a quality"),
            (Rendition(format: "flac"), .cbr, "flac does not support bit_rate_mode cbr; leave bit_rate_mode out"),
            (Rendition(format: "gsm"), .cbr, "leave bit_rate_mode out"),
            (Rendition(format: "mp3"), .vbr, "vbr of mp3 requires a quality; give quality"),
            (Rendition(format: "mp3", bitRate: 128_000), .vbr, "requires a quality"),
            (Rendition(format: "mp3", quality: 2), .cbr, "give bit_rate instead of quality"),
        ] as [(Rendition, BitRateMode, String)])
    func `a bit rate mode that the encoder lacks is refused`(
        _ rendition: Rendition, _ mode: BitRateMode, _ words: String
    ) throws {
        var rendition = rendition
        rendition.encoder.bitRateMode = mode
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.field == "bit_rate_mode")
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }

    @Test(
        arguments: [
            ("mp3", .voip, nil, "application", "mp3 does not support application voip; leave application out"),
            ("mp3", nil, 20, "frame_duration", "mp3 does not support frame_duration 20; leave frame_duration out"),
            ("opus", nil, 30, "frame_duration", "it supports 2.5, 5, 10, 20, 40, 60, 80, 100, 120 ms"),
            (
                "opus", .voip, 5, "frame_duration",
                "frame_duration 5 requires application lowdelay, and application is voip"
            ),
        ] as [(String, OpusApplication?, Double?, String, String)])
    func `settings of Opus are refused for other codecs and lengths`(
        _ format: String, _ application: OpusApplication?, _ duration: Double?, _ field: String, _ words: String
    ) throws {
        var rendition = Rendition(format: format)
        (rendition.encoder.application, rendition.encoder.frameDuration) = (application, duration)
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.field == field)
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }

    @Test func `constant packets that would hold no audio are refused`() throws {
        for (rate, channels, words) in [(11_000, 1, "12000 and more"), (23_000, 2, "24000 and more"), (12_000, 1, nil)]
        {
            var rendition = Rendition(format: "opus", bitRate: rate, channels: channels)
            (rendition.encoder.bitRateMode, rendition.encoder.frameDuration) = (.cbr, 2.5)
            if let words {
                let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
                #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
            } else {
                try rendition.validate()
            }
        }
    }

    @Test(
        arguments: [
            (Rendition(format: "mp3"), .none, "mp3 is made from floating-point samples"),
            (Rendition(format: "peaks"), .triangular, "peaks is made from floating-point samples"),
            (Rendition(format: "wav", sampleFormat: .f32), .triangular, "sample_format f32 loses no bits"),
            (
                Rendition(format: "wav", sampleRate: 96_000), .shaped,
                "8000, 11025, 16000, 22050, 32000, 37800, 44100, 48000 Hz"
            ),
        ] as [(Rendition, DitherMethod, String)])
    func `dither is refused if no sample loses bits, or the rate has no filter`(
        _ rendition: Rendition, _ dither: DitherMethod, _ words: String
    ) throws {
        var rendition = rendition
        rendition.sound.dither = dither
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.field == "dither")
        #expect(problem?.description.contains(words) == true, "\(problem?.description ?? "")")
    }

    @Test func `the modes of the table are accepted with what they need`() throws {
        for codec in AudioCodec.all {
            let format = try #require(AudioFormat.all.first { $0.codecs.contains(codec.name) && !$0.isPicture })
            for mode in codec.bitRateModes {
                let isOfQuality = mode == .vbr && !codec.controls.bitRateModes.contains(.vbr)
                var rendition = Rendition(
                    format: format.name, codec: codec.name, quality: isOfQuality ? codec.qualities?.upperBound : nil)
                rendition.encoder.bitRateMode = mode
                #expect(throws: Never.self, "\(codec.name) \(mode)") { try rendition.validate() }
            }
        }
    }

    @Test func `a setting of an encoder and a required copy are mutually exclusive`() {
        var rendition = Rendition(format: "flac")
        rendition.encoder.compressionLevel = 8
        rendition.passthrough = .require
        let problem = #expect(throws: FormatProblem.self) { try rendition.validate() }
        #expect(problem?.description.contains("compression_level (8) requires encoding") == true)
    }

    @Test func `every setting that the table allows is accepted`() throws {
        try Rendition(format: "mp3", bitRate: 192_000, sampleRate: 44_100, channels: 2).validate()
        try Rendition(format: "mp3", quality: 2).validate()
        try Rendition(format: "flac", sampleRate: 352_800, sampleFormat: .s24).validate()
        try Rendition(format: "caf", sampleFormat: .s24be).validate()
        try Rendition(format: "ogg", quality: -1).validate()
        try Rendition(format: "ogg", codec: "opus", bitRate: 24_000, channels: 1).validate()
    }
}
