import Encoding
import MediaTypes
import TestSupport
import Testing

/// Settings of encoders have the effect that ffmpeg's options of the same name have.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct EncoderSettingTests {
    /// Three seconds of stereo at 48 kHz and 16 bits, which every encoder takes as they are.
    private func music() async throws -> String {
        try await Studio.shared.music(as: "music-48.wav", ["-ar", "48000", "-t", "3"])
    }

    /// The MD5 of all packets of a file, without the container around them.
    private func packets(_ path: String) async throws -> String {
        try await WarmProgram.ffmpeg.run(
            ["-v", "error", "-nostdin", "-i", path, "-map", "0:a", "-c", "copy", "-f", "md5", "-"]
        ).output
    }

    private func rendition(
        _ format: String, _ codec: String, bitRate: Int? = nil, _ change: (inout EncoderSettings) -> Void = { _ in }
    ) -> Rendition {
        var rendition = Rendition(format: format, codec: codec, bitRate: bitRate)
        change(&rendition.encoder)
        return rendition
    }

    @Test(
        arguments: [
            ("flac", "flac", "flac", nil, [0, 12]), ("alac", "alac", "alac", nil, [0]),
            ("wv", "wavpack", "wavpack", nil, [4]), ("opus", "opus", "libopus", 96_000, [0]),
            ("mp3", "mp3", "libmp3lame", 128_000, [9]), ("mka", "flac", "flac", nil, [8]),
        ] as [(String, String, String, Int?, [Int])])
    func `a compression level writes the packets that ffmpeg writes at that level`(
        _ format: String, _ codec: String, _ encoder: String, _ bitRate: Int?, _ levels: [Int]
    ) async throws {
        let plain = try await packets(convert(music(), rendition(format, codec, bitRate: bitRate)).path)
        for level in levels {
            let made = try await convert(
                music(), rendition(format, codec, bitRate: bitRate) { $0.compressionLevel = level })
            let ending = AudioFormat.named(format)!.fileExtension
            let expected = try await Studio.shared.source(
                "level-\(level).\(ending)",
                ["-i", try await music(), "-c:a", encoder, "-compression_level", "\(level)"]
                    + (bitRate.map { ["-b:a", "\($0)"] } ?? []))
            let sum = try await packets(made.path)
            #expect(try await sum == packets(expected), "level \(level)")
            #expect(sum != plain, "level \(level)")
            #expect(made.result.samples == 144_000)
            #expect(made.result.settings["compression_level"] == Setting(requested: "\(level)", effective: "\(level)"))
        }
    }

    @Test(arguments: [(0, "fast"), (1, "twoloop")])
    func `a compression level of AAC writes the packets of ffmpeg's coder`(_ level: Int, _ coder: String) async throws {
        let made = try await convert(music(), rendition("m4a", "aac", bitRate: 96_000) { $0.compressionLevel = level })
        let expected = try await Studio.shared.source(
            "coder-\(coder).m4a", ["-i", try await music(), "-c:a", "aac", "-aac_coder", coder, "-b:a", "96k"])
        #expect(try await packets(made.path) == packets(expected))
        #expect(made.result.samples == 144_000)
        #expect(made.result.settings["compression_level"] == Setting(requested: "\(level)", effective: "\(level)"))
    }

    /// The sizes of all packets of a file in bytes.
    private func packetSizes(_ path: String) async throws -> [Int] {
        try await WarmProgram.ffprobe.run(
            ["-v", "error", "-select_streams", "a:0", "-show_entries", "packet=size", "-of", "csv=p=0", path]
        ).output.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
    }

    @Test(arguments: [
        ("opus", "opus", 96_000), ("mp3", "mp3", 128_000), ("ogg", "opus", 24_000), ("mka", "mp3", 64_000),
    ])
    func `a constant bit rate has packets of one size, and other modes do not`(
        _ format: String, _ codec: String, _ bitRate: Int
    ) async throws {
        let constant = try await convert(
            music(), rendition(format, codec, bitRate: bitRate) { $0.bitRateMode = .cbr })
        let size = bitRate / 8 * (codec == "opus" ? 960 : 1152) / 48_000
        let sizes = try await packetSizes(constant.path)
        #expect(sizes.count > 100 && Set(sizes) == [size], "\(Set(sizes))")
        #expect(constant.result.settings["bit_rate_mode"] == Setting(requested: "cbr", effective: "cbr"))
        let other: BitRateMode = codec == "opus" ? .vbr : .abr
        let changing = try await convert(music(), rendition(format, codec, bitRate: bitRate) { $0.bitRateMode = other })
        #expect(Set(try await packetSizes(changing.path)).count > 1)
        #expect([constant, changing].allSatisfy { $0.result.samples == 144_000 })
    }

    @Test func `an average bit rate of LAME is that of ffmpeg's option`() async throws {
        let made = try await convert(music(), rendition("mp3", "mp3", bitRate: 96_000) { $0.bitRateMode = .abr })
        let expected = try await Studio.shared.source(
            "abr.mp3", ["-i", try await music(), "-b:a", "96k", "-abr", "1"])
        #expect(try await packets(made.path) == packets(expected))
    }

    @Test(arguments: ["m4a", "adts", "mka"])
    func `a quality of AAC writes the packets that ffmpeg writes at that quality`(_ format: String) async throws {
        var bytes: [Int] = []
        for quality in [0.5, 1, 2] {
            let made = try await convert(music(), Rendition(format: format, codec: "aac", quality: quality))
            let expected = try await Studio.shared.source(
                "quality-\(quality).\(made.path.split(separator: ".").last!)",
                ["-i", try await music(), "-c:a", "aac", "-q:a", "\(quality)"])
            #expect(try await packets(made.path) == packets(expected), "quality \(quality)")
            #expect(made.result.samples == 144_000 && made.result.settings["bit_rate"] == nil)
            #expect(made.result.settings["quality"] == Setting(requested: "\(quality)", effective: "\(quality)"))
            bytes.append(Int(made.result.bytes))
        }
        #expect(bytes == bytes.sorted() && bytes[2] > bytes[0] * 3 / 2, "\(bytes)")
    }

    @Test(
        arguments: [
            (Rendition(format: "mp3"), "cbr"), (Rendition(format: "m4a", quality: 1), "vbr"),
            (Rendition(format: "mp3", quality: 4), "vbr"),
            (Rendition(format: "opus"), "vbr"), (Rendition(format: "m4a"), "abr"), (Rendition(format: "ogg"), "vbr"),
            (Rendition(format: "ac3"), "cbr"), (Rendition(format: "flac"), nil),
        ] as [(Rendition, String?)])
    func `a result states its bit rate mode`(_ rendition: Rendition, _ mode: String?) async throws {
        let made = try await convert(music(), rendition, end: MediaTime(parsing: "0.5")!)
        #expect(made.result.settings["bit_rate_mode"] == mode.map { Setting(effective: $0) })
    }

    @Test(arguments: [
        ("opus", [2.5, 120]), ("webm", [5, 60]), ("mp4", [10, 120]), ("caf", [2.5, 40]),
    ])
    func `a packet of Opus has the length that a job asks for, and the audio keeps its own`(
        _ format: String, _ lengths: [Double]
    ) async throws {
        let source = try await decode(music(), as: Int16.self, "s16le")
        for milliseconds in lengths {
            let made = try await convert(
                music(), rendition(format, "opus", bitRate: 160_000) { $0.frameDuration = milliseconds })
            #expect(made.result.samples == 144_000)
            #expect(format == "caf" || made.result.gapless == Gapless(start: 0, end: 0))
            let sizes = try await packetSizes(made.path)
            #expect(abs(Double(sizes.count) - 3000 / milliseconds) <= 3, "\(milliseconds) ms: \(sizes.count)")
            let short = milliseconds < 10
            #expect(made.result.settings["application"] == (short ? Setting(effective: "lowdelay") : nil))
            // Read by respool, because ffmpeg does not trim the end of MP4.
            let again = try await convert(made.path, Rendition(format: "wav", sampleFormat: .s16))
            let result = try await decode(again.path, as: Int16.self, "s16le")
            #expect(result.count == source.count)
            let ratio = Samples.decibels(of: source, over: result)
            #expect(ratio > 20, "\(milliseconds) ms: \(ratio) dB")
        }
    }

    @Test(arguments: [("voip", 20.0), ("lowdelay", 20), ("lowdelay", 5), ("audio", 60)])
    func `an application of Opus writes the packets that ffmpeg writes`(_ name: String, _ milliseconds: Double)
        async throws
    {
        let made = try await convert(
            music(),
            rendition("opus", "opus", bitRate: 64_000) {
                $0.application = OpusApplication(rawValue: name)
                $0.frameDuration = milliseconds
            })
        let expected = try await Studio.shared.source(
            "\(name)-\(milliseconds).opus",
            [
                "-i", try await music(), "-b:a", "64k", "-application", name, "-frame_duration", "\(milliseconds)",
            ])
        #expect(try await packets(made.path) == packets(expected))
        #expect(made.result.samples == 144_000)
        #expect(made.result.settings["application"] == Setting(requested: name, effective: name))
    }

    @Test func `packets are not copied if a job sets a compression level`() async throws {
        let source = try await Studio.shared.music(as: "copy.flac")
        var rendition = rendition("flac", "flac") { $0.compressionLevel = 12 }
        rendition.passthrough = .auto
        #expect(try await !convert(source, rendition).result.copied)
    }
}
