import Bytes
import Encoding
import Glibc
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct CutoffFilterTests {
    /// The gain of a Butterworth filter of second order, whose frequencies the bilinear transform has warped.
    private static func gain(_ frequency: Double, cutoff: Double, rate: Double, isLow: Bool) -> Double {
        let ratio = tan(.pi * frequency / rate) / tan(.pi * cutoff / rate)
        let square = ratio * ratio
        return (isLow ? 1 : square) / sqrt((1 - square) * (1 - square) + square / (0.707 * 0.707))
    }

    @Test(arguments: [50.0, 100, 440, 10_000], [false, true])
    func `a tone is attenuated as the formula of the filter says`(_ frequency: Double, isLow: Bool) async throws {
        let tone = (0..<132_300).map { Float(0.5 * sin(2 * .pi * frequency / 44_100 * Double($0))) }
        let made = try await convert(
            try await wave(tone), sound { if isLow { $0.lowPass = 1000 } else { $0.highPass = 100 } })
        let result = try await decode(made.path, as: Float.self, "f32le")
        #expect(result.count == tone.count)
        // The last second, after the filter has settled.
        let power = result.suffix(44_100).reduce(0) { $0 + Double($1) * Double($1) } / 44_100
        let expected = 0.5 * Self.gain(frequency, cutoff: isLow ? 1000 : 100, rate: 44_100, isLow: isLow)
        #expect(abs(sqrt(power * 2) / expected - 1) < 1e-4)
        let name = isLow ? "low_pass" : "high_pass"
        let text = isLow ? "1000.0" : "100.0"
        #expect(made.result.settings[name] == Setting(requested: text, effective: text))
    }

    @Test func `the samples are those of ffmpeg's filters, in every channel`() async throws {
        let source = try await Studio.shared.music()
        let made = try await convert(
            source,
            sound {
                $0.highPass = 300
                $0.lowPass = 3000
            })
        let judged = try await Studio.shared.source(
            // In FFmpeg 7, the filter computes 32-bit samples with 32-bit coefficients.
            "high.wav", ["-i", source, "-af", "aformat=dblp,highpass=f=300,lowpass=f=3000", "-c:a", "pcm_f32le"])
        let decoded = try await decode([made.path, judged], as: Float.self, "f32le")
        #expect(decoded[0].count == decoded[1].count)
        #expect(zip(decoded[0], decoded[1]).allSatisfy { abs($0 - $1) < 1e-6 })
    }

    @Test func `loudness is measured after the filter, and silence is sought there`() async throws {
        // A hum that a listener hardly hears and a meter does, around two seconds of a tone.
        let expression = "0.5*sin(PI*t/4)*sin(2*PI*20*t)+0.05*sin(2*PI*1000*t)*between(t,1,3)"
        let source = try await Studio.shared.source(
            "hum.wav", ["-f", "lavfi", "-i", "aevalsrc='\(expression)':s=48000:d=4", "-c:a", "pcm_f32le"])
        let made = try await convert(
            source,
            sound {
                $0.highPass = 200
                $0.loudness = -20
                $0.trimSilence = SilenceTrim(threshold: -40)
            })
        #expect(abs(made.result.samples - 96_000) < 4800)
        let after = try #require(made.result.loudness?.after.integrated)
        #expect(abs(after + 20) < 1, "\(after)")
    }

    @Test func `silence is cut out of the filtered sound, so that nothing clicks at the cut`() async throws {
        // An offset, which the filter removes, would be a step if the filter began at the cut.
        let source = try await Studio.shared.source(
            "offset.wav",
            [
                "-f", "lavfi", "-i", "aevalsrc='0.8*min(t,0.5)+0.2*sin(2*PI*1000*t)*between(t,1,2)':s=48000:d=3",
                "-c:a",
                "pcm_f32le",
            ])
        let whole = try await convert(source, sound { $0.highPass = 200 })
        let cut = try await convert(
            source,
            sound {
                $0.highPass = 200
                $0.trimSilence = SilenceTrim(threshold: -40)
            })
        let decoded = try await decode([whole.path, cut.path], as: Float.self, "f32le")
        let range = try #require(cut.result.settings["trim_silence"]?.effective).split(separator: " ")[1]
        let start = try #require(Int(range.prefix { $0 != "." }))
        #expect(abs(start - 48_000) < 100 && abs(decoded[1].count - 48_000) < 1000)
        #expect(decoded[1] == Array(decoded[0].dropFirst(start).prefix(decoded[1].count)))
    }

    @Test func `a frequency that the source cannot contain is refused`() async throws {
        let source = try await Studio.shared.music(as: "narrow-8.wav", ["-ar", "8000"])
        let problem = await failure(source, sound { $0.highPass = 4000 })
        #expect(
            problem?.sentence
                == "high_pass is 4000.0 Hz, and the source's sample rate is 8000 Hz; give less than 4000.0 Hz")
    }
}
