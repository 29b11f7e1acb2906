import Bytes
import Encoding
import Foundation
import Glibc
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TempoTests {
    private func tempo(_ text: String, _ format: String = "wav", _ sampleFormat: SampleFormat? = .f32) -> Rendition {
        sound(format, sampleFormat) { $0.tempo = Tempo(parsing: text) }
    }

    @Test(
        arguments: [
            ("1.25", 1_000_000, 800_000), ("1.25", 1, 1), ("1.25", 6, 5), ("1.25", 7, 6), ("4/3", 4, 3), ("4/3", 5, 4),
            ("0.5", 7, 14), ("4", 0, 0), ("0.7", 7_000_000_000_000, 10_000_000_000_000),
        ] as [(String, Int64, Int64)])
    func `the length is the quotient of the source's and the tempo, rounded up`(
        _ text: String, _ samples: Int64, _ expected: Int64
    ) throws {
        let tempo = try #require(Tempo(parsing: text))
        #expect(tempo.samples(samples) == expected)
    }

    @Test(arguments: ["0.49", "4.01", "1:00", "fast", "-1", "1/0", "", "nan"])
    func `a factor out of range is no tempo`(_ text: String) { #expect(Tempo(parsing: text) == nil) }

    @Test(arguments: ["0.5", "4/3", "4"])
    func `a result has exactly that length, from whole sources, cuts and single samples`(_ text: String) async throws {
        let factor = try #require(Tempo(parsing: text))
        let source = try await Studio.shared.music(as: "second.wav", ["-t", "1"])
        // The stages behind the tempo do not depend on its factor.
        let others: [(String, SampleFormat?)] = text == "4" ? [("flac", .s16), ("mp3", nil), ("opus", nil)] : []
        for (format, sampleFormat) in [("wav", .f32)] + others {
            let made = try await convert(source, tempo(text, format, sampleFormat))
            let whole = factor.samples(44_100)
            let rate = Int64(made.result.sampleRate)
            #expect(made.result.samples == (whole * rate + 44_099) / 44_100, "\(format)")
            #expect(made.result.gapless == Gapless(start: 0, end: 0))
            #expect(made.result.settings["tempo"]?.effective == factor.description)
        }
        for count in [1, 2, 1000] as [Int64] {
            let end = MediaTime(sample: 22_050 + count, rate: 44_100)
            let made = try await convert(source, tempo(text), start: MediaTime(parsing: "0.5")!, end: end)
            #expect(made.result.samples == factor.samples(count))
        }
    }

    @Test(arguments: ["0.6", "1.5", "3"]) func `the pitch stays`(_ text: String) async throws {
        let made = try await convert(try await wave(Sounds.tone(440, samples: 88_200)), tempo(text))
        let result = try await decode(made.path, as: Float.self, "f32le")
        let middle = result.dropFirst(8820).dropLast(8820)
        let crossings = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        let frequency = Double(crossings) * 44_100 / Double(middle.count)
        #expect(abs(frequency - 440) < 2, "\(frequency) Hz")
        let power = middle.reduce(0) { $0 + Double($1) * Double($1) } / Double(middle.count)
        #expect(abs(10 * log10(power / 0.125)) < 0.3, "\(10 * log10(power / 0.125)) dB")
    }

    @Test(arguments: ["0.75", "2"]) func `events keep their times to the end of a file`(_ text: String)
        async throws
    {
        // A burst of noise at each of five seconds.
        var noise = Noise(state: 5)
        var samples = [Float](repeating: 0, count: 5 * 44_100)
        let bursts = Array(stride(from: 22_050, to: samples.count, by: 44_100))
        for start in bursts {
            for index in 0..<400 {
                samples[start + index] = Float.random(in: -0.5...0.5, using: &noise) * Float(exp(-Double(index) / 100))
            }
        }
        let made = try await convert(try await wave(samples), tempo(text))
        let result = try await decode(made.path, as: Float.self, "f32le")
        let stretch = try #require(Tempo(parsing: text)).stretch
        var latest = 0.0
        for start in bursts {
            let expected = Double(start) * stretch
            let around = max(Int(expected) - 4410, 0)..<min(Int(expected) + 4410, result.count)
            let peak = around.max { abs(result[$0]) < abs(result[$1]) }!
            latest = max(latest, abs(Double(peak) - expected) / 44.1)
        }
        #expect(latest < 15, "\(latest) ms")
    }

    @Test func `chapters move to the times at which they are heard`() async throws {
        let list = await Studio.shared.output("txt")
        let chapters = [(0, 1250), (1250, 2500), (2500, 3000)].map { start, end in
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(start)\nEND=\(end)\ntitle=From \(start)\n"
        }
        try Data((";FFMETADATA1\n" + chapters.joined()).utf8).write(to: URL(filePath: list))
        let source = try await Studio.shared.music(
            as: "chapters.mka", ["-i", list, "-map_metadata", "1", "-c:a", "flac"])
        let made = try await convert(source, tempo("1.25", "mp3", nil), start: MediaTime(parsing: "1")!)
        let outcome = try await WarmProgram.ffprobe.run(
            ["-v", "error", "-show_entries", "chapter=start_time", "-of", "csv=p=0", made.path])
        let starts = outcome.output.split(separator: "\n").compactMap { Double($0) }
        #expect(starts == [0, 0.2, 1.2])
    }

    @Test func `lyrics, cue points and the beat are not left at the old tempo`() throws {
        var metadata = Metadata(
            texts: ["BPM": ["120"], "TITLE": ["Song"]],
            chapters: [.init(start: 1_000_000_000, end: .max, title: "One")],
            lines: [.init(time: 3_000_000_000, text: "la")])
        metadata.wave.cues = [CuePoint(number: 1, position: 44_100)]
        metadata.move(to: try #require(Tempo(parsing: "1.5")))
        #expect(metadata.chapters == [.init(start: 666_666_667, end: .max, title: "One")])
        #expect(metadata.lines == [.init(time: 2_000_000_000, text: "la")])
        #expect(metadata.wave.cues.map(\.position) == [29_400])
        #expect(metadata.texts == ["TITLE": ["Song"]])
    }

    @Test func `fades have their length in the result`() async throws {
        let samples = Sounds.tone(1000, samples: 176_400)
        var rendition = tempo("2")
        rendition.sound.fadeOut = MediaTime(parsing: "1")
        rendition.sound.replayGain = .track
        let made = try await convert(try await wave(samples), rendition)
        let result = try await decode(made.path, as: Float.self, "f32le")
        func level(_ second: Double) -> Float { result[Int(second * 44_100)...].prefix(441).map(abs).max()! }
        #expect(result.count == 88_200 && abs(level(0.9) - 0.5) < 0.05)
        #expect(abs(level(1.5) - 0.5 * 0.707) < 0.05 && level(1.99) < 0.02)
    }

    @Test func `a loudness is that of the result at its tempo`() async throws {
        let source = try await Studio.shared.source(
            "noise.wav", ["-f", "lavfi", "-i", "anoisesrc=a=0.2:r=44100:d=4:seed=1", "-c:a", "pcm_f32le"])
        var rendition = tempo("1.5")
        rendition.sound.loudness = -20
        let made = try await convert(source, rendition)
        let after = try #require(made.result.loudness?.after.integrated)
        #expect(abs(after + 20) < 0.05, "\(after) LUFS")
    }

    @Test func `a tempo of 1 changes no sample, and other tempos are no stream copy`() async throws {
        let source = try await Studio.shared.music()
        let made = try await convert(source, tempo("1"))
        let decoded = try await decode([source, made.path], as: Float.self, "f32le")
        #expect(decoded[0] == decoded[1])
        let flac = try await Studio.shared.music(as: "copy.flac")
        var rendition = tempo("1.1", "flac", nil)
        rendition.passthrough = .auto
        #expect(try await !convert(flac, rendition).result.copied)
    }

    @Test func `a sample rate that the engine lacks is refused`() async throws {
        let source = try await Studio.shared.music(as: "low.wav", ["-ar", "6000"])
        let problem = await failure(source, tempo("2"))
        #expect(problem?.sentence.hasPrefix("tempo supports sample rates of 8000 to 192000 Hz") == true)
    }
}
