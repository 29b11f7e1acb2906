import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct LoudnessTests {
    /// Tones of EBU Tech 3341 and 3342: stereo, 1 kHz, steps of level and length.
    private func tones(_ name: String, _ steps: [(level: Double, seconds: Double)]) async throws -> String {
        var terms: [String] = []
        var start = 0.0
        for step in steps {
            let peak = pow(10, step.level / 20)
            terms.append("\(peak)*gte(t,\(start))*lt(t,\(start + step.seconds))")
            start += step.seconds
        }
        let wave = "sin(2*PI*1000*t)*(\(terms.joined(separator: "+")))"
        return try await Studio.shared.source(
            name,
            ["-f", "lavfi", "-i", "aevalsrc='\(wave)|\(wave)':s=48000:d=\(start)", "-c:a", "pcm_f32le"])
    }

    /// What ffmpeg's filter measures of a file.
    private func measured(
        _ path: String, _ decoding: [String] = []
    ) async throws -> (integrated: Double, peak: Double) {
        let outcome = try await WarmProgram.ffmpeg.run(
            ["-hide_banner", "-nostats"] + decoding + ["-i", path, "-af", "ebur128=peak=true", "-f", "null", "-"])
        let words = outcome.errors.split(whereSeparator: { $0 == " " || $0 == "\n" })
        let integrated = words.lastIndex(of: "I:").flatMap { Double(words[$0 + 1]) }
        let peak = words.lastIndex(of: "Peak:").flatMap { Double(words[$0 + 1]) }
        return (try #require(integrated), try #require(peak))
    }

    @Test(arguments: [
        // Tech 3341, cases 1 to 3: −23 and −33 LUFS; what is below the relative gate does not count.
        ("tech-3341-1.wav", [(-23.0, 4.0)], -23.0), ("tech-3341-2.wav", [(-33.0, 4.0)], -33.0),
        ("tech-3341-3.wav", [(-36.0, 2.0), (-23.0, 12.0), (-36.0, 2.0)], -23.0),
    ])
    func `the levels of EBU Tech 3341 are measured and reached`(
        _ name: String, _ steps: [(Double, Double)], _ level: Double
    ) async throws {
        let source = try await tones(name, steps.map { (level: $0.0, seconds: $0.1) })
        let made = try await convert(source, sound { $0.loudness = -16 })
        let change = try #require(made.result.loudness)
        #expect(abs(try #require(change.before.integrated) - level) <= 0.1)
        #expect(abs(change.gain - (-16 - level)) <= 0.1)
        #expect(abs(try #require(change.after.integrated) + 16) <= 0.1)
        #expect(abs(try await measured(made.path).integrated + 16) <= 0.11)
        #expect(made.result.warnings.isEmpty)
    }

    @Test func `the loudness range of EBU Tech 3342 is measured`() async throws {
        // Case 1: −20 and −30 dBFS make 10 LU.
        let source = try await tones("tech-3342-1.wav", [(level: -20, seconds: 10), (level: -30, seconds: 10)])
        let made = try await convert(source, sound { $0.loudness = -23 })
        #expect(abs(try #require(made.result.loudness?.before.range) - 10) <= 1)
    }

    @Test func `surround channels have more weight and low frequencies none`() async throws {
        // Tech 3341, case 6: −28 dBFS in front, −24 in the centre, −30 at the sides make −23 LUFS.
        let levels = [-28.0, -28, -24, -10, -30, -30].map { "\(pow(10, $0 / 20))*sin(2*PI*1000*t)" }
        let source = try await Studio.shared.source(
            "tech-3341-6.wav",
            [
                "-f", "lavfi", "-i", "aevalsrc='\(levels.joined(separator: "|"))':c=5.1:s=48000:d=3", "-c:a",
                "pcm_f32le",
            ])
        let made = try await convert(source, sound { $0.loudness = -20 })
        #expect(abs(try #require(made.result.loudness?.before.integrated) + 23) <= 0.1)
    }

    @Test(arguments: ["wav", "flac", "mp3"])
    func `the true peak limits a loud target, with a warning`(_ format: String) async throws {
        // Two tones that beat, with clicks between; soft, so that the gain is large.
        let wave = "0.05*sin(2*PI*440*t)+0.04*sin(2*PI*11025*t+0.7)+0.3*lt(mod(t,0.5),0.0002)*gte(t,0.1)"
        let source = try await Studio.shared.source(
            "peaky.wav", ["-f", "lavfi", "-i", "aevalsrc='\(wave)|\(wave)':s=44100:d=4", "-c:a", "pcm_f32le"])
        let made = try await convert(source, sound(format, format == "wav" ? .f32 : nil) { $0.loudness = -14 })
        let warning = made.result.warnings.first { $0.code == "limited" }
        #expect(warning?.message.contains("to keep -1.0 dBTP") == true, "\(made.result.warnings)")
        #expect(try #require(made.result.loudness?.after.truePeak) <= -0.9)
        #expect(made.result.samples == 4 * 44_100)
        if format != "mp3" { #expect(try await measured(made.path).peak <= -0.9) }
        let loud = try await convert(
            source,
            sound {
                $0.loudness = -14
                $0.isUnlimited = true
            })
        #expect(try #require(loud.result.loudness?.after.truePeak) > 0)
        #expect(abs(try #require(loud.result.loudness?.after.integrated) + 14) < 0.1)
    }

    @Test(arguments: ["8k", "64k", "128k", "160k", "192k", "224k", "256k", "320k", nil])
    func `an MP3 has the requested loudness, whatever the encoder does to the level`(
        _ rate: String?
    ) async throws {
        let wave = "0.1*sin(2*PI*440*t)+0.05*sin(2*PI*1234*t)"
        let low = rate == "8k"
        let source = try await Studio.shared.source(
            low ? "encoded-level-low.wav" : "encoded-level.wav",
            [
                "-f", "lavfi", "-i", "aevalsrc='\(wave)\(low ? "" : "|\(wave)")':s=\(low ? 22_050 : 44_100):d=4",
                "-c:a", "pcm_f32le",
            ])
        var rendition = sound("mp3", nil) { $0.loudness = -16 }
        rendition.bitRate = rate.flatMap { Int($0.dropLast()) }.map { $0 * 1000 }
        if rate == nil { rendition.quality = 2 }
        let made = try await convert(source, rendition)
        let after = try #require(made.result.loudness?.after)
        let heard = try await measured(made.path)
        #expect(abs(heard.integrated + 16) <= 0.1, "\(heard)")
        #expect(abs(try #require(after.integrated) - heard.integrated) <= 0.1)
        #expect(abs(try #require(after.truePeak) - heard.peak) <= 0.2)
        #expect(made.result.warnings.isEmpty)
    }

    @Test(arguments: ["m4a", "opus"])
    func `a result whose decoded peaks exceed the ceiling is encoded once more, lower`(_ format: String) async throws {
        // Noise that the limiter has at the ceiling all the time: what a codec leaves out lets peaks stand out.
        let noise = "0.3*(2*random(0)-1)+0.25*lt(mod(t,0.1),0.0005)"
        let source = try await Studio.shared.source(
            "rough.wav", ["-f", "lavfi", "-i", "aevalsrc='\(noise)':s=48000:d=4", "-c:a", "pcm_f32le"])
        var rendition = sound(format, nil) { $0.loudness = -9 }
        rendition.bitRate = 32_000
        let made = try await convert(source, rendition)
        let after = try #require(made.result.loudness?.after)
        let heard = try await measured(made.path, format == "opus" ? Studio.opus : [])
        #expect(try #require(after.truePeak) <= -0.85)
        #expect(heard.peak <= -0.7, "\(heard)")
        #expect(abs(try #require(after.integrated) - heard.integrated) <= 0.1)
        let limited = try #require(made.result.warnings.first { $0.code == "limited" })
        #expect(limited.message.contains("encoded again"), "\(limited)")
        #expect(limited.message.contains("LU softer than its target"), "\(limited)")
        #expect(made.result.samples == 4 * 48_000)
    }

    @Test(arguments: ["mp3", "opus"])
    func `a lossy result of a few frames has a loudness, though it may be too short to be decoded`(
        _ format: String
    ) async throws {
        let source = try await tones("short-tone.wav", [(level: -23, seconds: 0.2)])
        for milliseconds in [Int64(3), 150] {
            let end = MediaTime(value: milliseconds, timescale: 1000)
            let made = try await convert(source, sound(format, nil) { $0.loudness = -20 }, end: end)
            #expect(made.result.loudness?.after.samplePeak != nil)
        }
    }

    @Test func `silence stays silent, and a source shorter than a gate is measured`() async throws {
        let silence = try await Studio.shared.source("nothing.wav", ["-f", "lavfi", "-i", "anullsrc=d=1"])
        let made = try await convert(silence, sound("wav", nil) { $0.loudness = -16 })
        #expect(try await decode(made.path, as: Int16.self, "s16le").allSatisfy { abs($0) <= 1 })
        #expect(made.result.warnings.map(\.code) == ["loudness_unmeasured"])
        #expect(made.result.loudness?.gain == 0)
        let short = try await tones("short-tone.wav", [(level: -23, seconds: 0.2)])
        let raised = try await convert(short, sound { $0.loudness = -16 })
        #expect(abs(try #require(raised.result.loudness?.gain) - 7) < 0.3)
    }

    @Test func `the first pass is reported as a separate phase`() async throws {
        let source = try await tones("tech-3341-1.wav", [(level: -23, seconds: 4)])
        let path = await Studio.shared.output("wav")
        let phases = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
            var phases: [Phase] = []
            _ = try Converter.run(
                source: DescriptorSource(borrowing: input.number), store: DescriptorStore(borrowing: output.number),
                rendition: sound { $0.loudness = -16 }, range: .whole, stop: CancellationFlag(),
                progress: { if phases.last != $0.phase { phases.append($0.phase) } })
            return phases
        }
        #expect(phases == [.opening, .analyzing, .converting])
    }
}

@Suite(.failureReport, .timeLimit(.minutes(5))) struct LevelProbeTests {
    @Test func `the loudness of a source and its silences are reported to the sample`() async throws {
        // Silence from 8000 to 16000 and from 40000 on; a quarter of a second at 24000 is too short to count.
        let wave = "pow(10,-23/20)*sin(2*PI*1000*t)*(lt(n,8000)+gte(n,16000)*lt(n,24000)+gte(n,28000)*lt(n,40000))"
        let source = try await Studio.shared.source(
            "pauses.wav", ["-f", "lavfi", "-i", "aevalsrc='\(wave)|\(wave)':s=16000:d=3", "-c:a", "pcm_f32le"])
        let settings = ProbeSettings(loudness: true, silence: ProbeSettings.usualSilence)
        let probe = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            return try Probe.of(DescriptorSource(borrowing: input.number), settings, stop: CancellationFlag())
        }
        let track = try #require(probe.tracks.first)
        let silences = try #require(track.silences).map {
            [$0.start.sampleIndex(rate: 16_000), $0.end.sampleIndex(rate: 16_000)]
        }
        // The sine itself begins and ends with samples near zero.
        #expect(silences.count == 2)
        #expect(silences.first.map { (7999...8000).contains($0[0]) && (16_000...16_001).contains($0[1]) } == true)
        #expect(silences.last.map { (39_999...40_000).contains($0[0]) && $0[1] == 48_000 } == true)
        let loudness = try #require(track.loudness)
        #expect(abs(try #require(loudness.momentary) + 23) < 0.1)
        #expect(abs(try #require(loudness.samplePeak) + 23) < 0.1)
        #expect(abs(try #require(loudness.truePeak) + 23) < 0.2)
    }

    @Test func `silences are listed up to what one message holds`() async throws {
        let source = try await Studio.shared.source(
            "flutter.wav", ["-f", "lavfi", "-i", "aevalsrc='0.5*mod(n,2)':s=8000:d=0.25"])
        let settings = ProbeSettings(silence: SilenceTrim(threshold: -60))
        let probe = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            return try Probe.of(DescriptorSource(borrowing: input.number), settings, stop: CancellationFlag())
        }
        #expect(probe.tracks.first?.silences?.count == 500)
        #expect(probe.tracks.first?.silencesLeftOut == 500)
    }

    @Test(arguments: [("flac", -5.0), ("mp3", -5.0), ("opus", -10.0)])
    func `ReplayGain is written for the level of the result`(_ format: String, _ gain: Double) async throws {
        let wave = "pow(10,-23/20)*sin(2*PI*1000*t)"
        let source = try await Studio.shared.source(
            "level-23.wav", ["-f", "lavfi", "-i", "aevalsrc='\(wave)|\(wave)':s=48000:d=2", "-c:a", "pcm_f32le"])
        let made = try await convert(
            source,
            sound(format, nil) {
                $0.replayGain = .track
                $0.gain = 10
            })
        let entries = "format_tags:stream_tags"
        let outcome = try await WarmProgram.ffprobe.run(
            ["-v", "error", "-show_entries", entries, "-of", "default=nw=1", made.path])
        let tags = outcome.output.split(separator: "\n").map { $0.uppercased() }
        if format == "opus" {
            let text = tags.first { $0.hasPrefix("TAG:R128_TRACK_GAIN=") }?.split(separator: "=").last
            #expect(text.flatMap { Double($0) }.map { abs($0 / 256 - gain) < 0.1 } == true, "\(tags)")
        } else {
            let text = tags.first { $0.hasPrefix("TAG:REPLAYGAIN_TRACK_GAIN=") }?.split(separator: "=").last
            let number = text.flatMap { $0.split(separator: " ").first }.flatMap { Double($0) }
            #expect(number.map { abs($0 - gain) < 0.1 } == true, "\(tags)")
            #expect(tags.contains { $0.hasPrefix("TAG:REPLAYGAIN_TRACK_PEAK=0.22") }, "\(tags)")
        }
    }

    @Test func `rates whose loudness is not measured are named`() async throws {
        let slow = try await Studio.shared.source("slow.wav", ["-f", "lavfi", "-i", "sine=d=20", "-ar", "3"])
        let refused = await failure(slow, sound("wav", .s16) { $0.loudness = -16 })
        #expect(refused?.sentence.contains("not for 1 at 3 Hz") == true)
        guard case .unsupportedFormat = refused?.reason else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }
}
