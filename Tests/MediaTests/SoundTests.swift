import Bytes
import Encoding
import Glibc
import MediaTypes
import TestSupport
import Testing

/// Settings of sound for a WAV file of floats.
func sound(_ format: String = "wav", _ sampleFormat: SampleFormat? = .f32, _ change: (inout SoundSettings) -> Void)
    -> Rendition
{
    var rendition = Rendition(format: format, sampleFormat: sampleFormat)
    change(&rendition.sound)
    return rendition
}

@Suite(.failureReport, .timeLimit(.minutes(5))) struct SoundTests {
    /// A second of two channels, with another tone each, exact in 16 bits.
    private func pair() async throws -> String {
        try await Studio.shared.source(
            "pair.wav", ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)|0.25*sin(2*PI*1000*t)':s=48000:d=1"])
    }

    /// Each channel of a file apart.
    private func channels<Sample: BitwiseCopyable>(
        _ path: String, _ count: Int, as type: Sample.Type, _ format: String
    ) async throws -> [[Sample]] {
        let all = try await decode(path, as: type, format)
        return (0..<count).map { channel in stride(from: channel, to: all.count, by: count).map { all[$0] } }
    }

    @Test(arguments: [("R,L", [1, 0]), ("2,1", [1, 0]), ("FR", [1]), ("c1,c1,c2", [0, 0, 1])])
    func `channels are selected and swapped without a change to any sample`(_ text: String, _ places: [Int])
        async throws
    {
        let source = try await channels(pair(), 2, as: Int16.self, "s16le")
        let made = try await convert(pair(), sound("wav", nil) { $0.channelMap = ChannelReference.list(parsing: text) })
        let result = try await channels(made.path, places.count, as: Int16.self, "s16le")
        #expect(result == places.map { source[$0] })
        #expect(made.result.settings["sample_format"]?.effective == "s16")
    }

    @Test func `a channel that the source lacks is refused`() async throws {
        let refused = try await failure(pair(), sound { $0.channelMap = ChannelReference.list(parsing: "FC,LFE") })
        #expect(refused?.sentence == "channel_map refers to the channel FC, and the source has the 2 channels FL FR")
    }

    @Test func `a matrix mixes as it is written`() async throws {
        let source = try await channels(pair(), 2, as: Float.self, "f32le")
        let made = try await convert(
            pair(), sound { $0.mix = MixMatrix(parsing: "FR=0.5FL-0.25FR,FL=c2,FC=2FL") })
        let result = try await channels(made.path, 3, as: Float.self, "f32le")
        #expect(made.result.settings["channel_layout"]?.effective == "3.0")
        for index in stride(from: 0, to: 48_000, by: 97) {
            let (left, right) = (source[0][index], source[1][index])
            #expect(abs(result[0][index] - right) < 1e-6)
            #expect(abs(result[1][index] - (0.5 * left - 0.25 * right)) < 1e-6)
            #expect(abs(result[2][index] - 2 * left) < 1e-6)
        }
    }

    @Test func `surround is folded without clipping`() async throws {
        // Full scale in one channel at a time shows each factor: L 1, centre and surround at −3 dB, all ÷ 2.414.
        let steps = (0..<6).map { "0.5*between(t,\($0)/10,\($0)/10+0.0999)" }.joined(separator: "|")
        let source = try await Studio.shared.source(
            "steps.wav", ["-f", "lavfi", "-i", "aevalsrc='\(steps)':c=5.1:s=8000:d=0.6", "-c:a", "pcm_f32le"])
        for (format, tolerance) in [(SampleFormat.f32, 1e-5), (.s16, 1e-4)] {
            let made = try await convert(source, Rendition(format: "wav", channels: 2, sampleFormat: format))
            let result = try await channels(made.path, 2, as: Float.self, "f32le")
            let left = (0..<6).map { Double(result[0][$0 * 800 + 400]) * 2 }
            for (found, right) in zip(left, [0.4142, 0, 0.2929, 0, 0.2929, 0]) {
                #expect(abs(found - right) < tolerance + 1e-4)
            }
        }
        let mono = try await convert(pair(), Rendition(format: "wav", channels: 1, sampleFormat: .f32))
        let folded = try await decode(mono.path, as: Float.self, "f32le")
        let source2 = try await channels(pair(), 2, as: Float.self, "f32le")
        #expect((0..<48_000).allSatisfy { abs(folded[$0] - (source2[0][$0] + source2[1][$0]) / 2) < 1e-6 })
    }

    @Test func `a lone channel goes to both sides at full level`() async throws {
        let source = try await Studio.shared.source(
            "lone.wav", ["-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*440*t)':s=48000:d=0.2"])
        let made = try await convert(source, Rendition(format: "wav", channels: 2, sampleFormat: .f32))
        let mono = try await decode(source, as: Float.self, "f32le")
        let result = try await channels(made.path, 2, as: Float.self, "f32le")
        #expect(result[0] == mono && result[1] == mono)
    }

    @Test func `the gain changes the level by decibels`() async throws {
        let source = try await decode(pair(), as: Float.self, "f32le")
        let made = try await convert(pair(), sound { $0.gain = -6.0206 })
        let result = try await decode(made.path, as: Float.self, "f32le")
        #expect(zip(source, result).allSatisfy { abs($0 / 2 - $1) < 1e-5 })
        #expect(made.result.warnings.isEmpty)
    }

    @Test func `a fade has equal power from the first sample to the last`() async throws {
        let source = try await Studio.shared.source(
            "level.wav", ["-f", "lavfi", "-i", "aevalsrc=0.5:s=8000:d=1", "-c:a", "pcm_f32le"])
        let made = try await convert(
            source,
            sound {
                $0.fadeIn = MediaTime(parsing: "0.25")
                $0.fadeOut = MediaTime(parsing: "0.5")
            })
        let result = try await decode(made.path, as: Float.self, "f32le")
        #expect(result.count == 8000)
        let raised = (0..<2000).map { 0.5 * sine(Double($0) / 2000) }
        let lowered = (4000..<8000).map { 0.5 * sine(Double(8000 - $0) / 4000) }
        let expected = raised + Array(repeating: 0.5, count: 2000) + lowered
        #expect(zip(result, expected).allSatisfy { abs(Double($0) - $1) < 1e-6 })
    }

    @Test func `a fade-out ends with the cut, and covers all of a shorter result`() async throws {
        let source = try await Studio.shared.source(
            "level.wav", ["-f", "lavfi", "-i", "aevalsrc=0.5:s=8000:d=1", "-c:a", "pcm_f32le"])
        let made = try await convert(
            source, sound { $0.fadeOut = MediaTime(parsing: "5") }, start: MediaTime(parsing: "0.5")!,
            end: MediaTime(parsing: "0.75")!)
        let result = try await decode(made.path, as: Float.self, "f32le")
        let expected = (0..<2000).map { 0.5 * sine(Double(2000 - $0) / 2000) }
        #expect(zip(result, expected).allSatisfy { abs(Double($0) - $1) < 1e-6 })
    }

    @Test func `a fade-in keeps its pace if the result is shorter`() async throws {
        let source = try await Studio.shared.source(
            "level.wav", ["-f", "lavfi", "-i", "aevalsrc=0.5:s=8000:d=1", "-c:a", "pcm_f32le"])
        let made = try await convert(source, sound { $0.fadeIn = MediaTime(parsing: "5") })
        let result = try await decode(made.path, as: Float.self, "f32le")
        #expect(zip(result, 0..<8000).allSatisfy { abs(Double($0) - 0.5 * sine(Double($1) / 40_000)) < 1e-6 })
    }

    @Test func `silence is trimmed from both ends to the sample`() async throws {
        let level = "0.5*between(n,1001,4999)*(2*mod(n,2)-1)+0.5*between(n,6001,6002)"
        let source = try await Studio.shared.source(
            "silent-ends.wav", ["-f", "lavfi", "-i", "aevalsrc='\(level)':s=8000:d=1"])
        let whole = try await decode(source, as: Int16.self, "s16le")
        func trimmed(_ text: String) async throws -> [Int16] {
            let made = try await convert(source, sound("wav", nil) { $0.trimSilence = SilenceTrim(parsing: text) })
            return try await decode(made.path, as: Int16.self, "s16le")
        }
        #expect(try await trimmed("-60") == Array(whole[1001...6002]))
        #expect(try await trimmed("-60,0.2") == Array(whole[0...6002]))
        #expect(try await trimmed("-60,0.5") == whole)
        #expect(try await trimmed("-3") == whole)
    }

    @Test(arguments: [ResamplerEngine.swr, .soxr])
    func `resampling keeps the exact length and the tone`(_ engine: ResamplerEngine) async throws {
        var rendition = sound { $0.resampler = engine }
        rendition.sampleRate = 44_100
        let made = try await convert(pair(), rendition, end: MediaTime(parsing: "12345/48000")!)
        #expect(made.result.samples == (12_345 * 441 + 479) / 480)
        let result = try await channels(made.path, 2, as: Float.self, "f32le")
        let error = (2000..<9000).map { abs(Double(result[0][$0]) - 0.5 * sine(4 * 440 * Double($0) / 44_100)) }.max()!
        #expect(error < 5e-5)
    }
}

/// A sine, in quarters of its period.
private func sine(_ quarters: Double) -> Double { sin(.pi / 2 * quarters) }
