import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

/// Opus, as opusdec gives it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct OpusTests {
    /// The modes of packets (RFC 6716, 3.1).
    private enum Mode { case speech, hybrid, music }

    /// Voices that rise and fall, one for each channel, encoded by opusenc.
    private func encoded(_ options: [String], channels: Int, seconds: Double = 1.5) async throws -> String {
        let voices = (0..<channels).map { channel -> String in
            let pitch = "(\(110 + 17 * channel)*t+6*sin(2*PI*1.3*t))"
            let tones = "sin(2*PI*\(pitch))+0.6*sin(4*PI*\(pitch))+0.4*sin(12*PI*\(pitch))+0.04*random(\(channel))"
            return "0.2*(0.3+0.7*abs(sin(2*PI*1.7*t)))*(\(tones))"
        }
        let layout = ["mono", "stereo", "", "", "", "5.1"][channels - 1]
        let sound = try await Studio.shared.source(
            "voices-\(channels).wav",
            [
                "-f", "lavfi", "-i", "aevalsrc='\(voices.joined(separator: "|"))':c=\(layout):s=48000:d=\(seconds)",
                "-bitexact",
            ])
        let path = await Studio.shared.output("opus")
        let outcome = try await ChildProcess.run("opusenc", ["--quiet"] + options + [sound, path])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return path
    }

    /// What opusdec gives, interleaved.
    private func judged(_ bytes: [UInt8]) async throws -> [Float] {
        let (path, wave) = (await Studio.shared.output("opus"), await Studio.shared.output("wav"))
        try Data(bytes).write(to: URL(filePath: path))
        let outcome = try await ChildProcess.run(
            "opusdec", ["--quiet", "--float", "--no-dither", "--rate", "48000", path, wave])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return try await decode(wave, as: Float.self, "f32le")
    }

    /// Compares samples up to 120 dB below full scale.
    private func compare(_ bytes: [UInt8], _ words: String) async throws {
        let expected = try await judged(bytes)
        let found = try MemoryFile(bytes).samples()
        #expect(found.count == expected.count, "\(words)")
        let difference = Samples.largestDifference(found, expected)
        #expect(difference < 1e-6, "\(words)")
    }

    @Test(arguments: [1, 2])
    func `speech, music and what is between them are decoded as by the reference`(channels: Int) async throws {
        var modes: Set<Mode> = []
        for options in [
            "--speech --bitrate 12 --framesize 10", "--speech --bitrate 12", "--speech --bitrate 12 --framesize 40",
            "--speech --bitrate 12 --framesize 60", "--speech --bitrate 14 --expect-loss 20", "--speech --bitrate 28",
            "--speech --bitrate 28 --framesize 10", "--speech --bitrate 40 --framesize 60", "--framesize 2.5",
            "--framesize 5", "--music --bitrate 64", "--framesize 60",
        ] {
            let words = options.split(separator: " ").map(String.init)
            let bytes = try fileBytes(try await encoded(words, channels: channels))
            for packet in OggFile(bytes).packets.dropFirst(2) {
                modes.insert(packet.bytes[0] >> 3 < 12 ? .speech : packet.bytes[0] >> 3 < 16 ? .hybrid : .music)
            }
            try await compare(bytes, options)
        }
        #expect(modes == [.speech, .hybrid, .music])
    }

    @Test func `six channels are decoded in their order`() async throws {
        try await compare(try fileBytes(try await encoded(["--bitrate", "192"], channels: 6)), "5.1")
    }

    @Test func `each link of a chain begins anew, behind its own delay`() async throws {
        var chain: [UInt8] = []
        for (serial, options) in ["--speech --bitrate 12", "--music --bitrate 64", "--speech --bitrate 28"].enumerated()
        {
            let words = options.split(separator: " ").map(String.init) + ["--serial", "\(serial)"]
            chain += try fileBytes(try await encoded(words, channels: 1))
        }
        try await compare(chain, "a chain")
    }

    @Test(arguments: ["2.5", "20"])
    func `an end that is trimmed by more than a packet is exact`(_ size: String) async throws {
        let whole = try fileBytes(try await encoded(["--framesize", size], channels: 1))
        var last = 0
        _ = OggFile.moved(whole) { page in
            last = page
            return 0
        }
        for trim in [Int64(500), 2000, 8000] {
            let bytes = OggFile.moved(whole) { [last] in $0 == last ? -trim : 0 }
            try await compare(bytes, "\(trim)")
            let expected = try MemoryFile(bytes).samples()
            #expect(expected.count == 72_000 - Int(trim))
            for end in [nil, MediaTime(sample: 72_000 - trim - 1, rate: 48_000)] {
                let part = try MemoryFile(bytes).converted(
                    to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: 50_000, rate: 48_000),
                    end: end)
                let isSame = try part.file.samples() == Array(expected[50_000...].dropLast(end == nil ? 0 : 1))
                #expect(isSame, "\(trim)")
            }
        }
    }
}
