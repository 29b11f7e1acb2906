import Bytes
import Encoding
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct ChannelTests {
    /// Six channels with a tone each, the surrounds at the side.
    private func surround() async throws -> String {
        let tones = (1...6).map { "0.2*sin(2*PI*\($0 * 200)*t)" }.joined(separator: "|")
        return try await Studio.shared.source(
            "surround.wav", ["-f", "lavfi", "-i", "aevalsrc='\(tones)':c=5.1(side):s=48000:d=1"])
    }

    @Test(arguments: AudioCodec.all.filter { $0.maxChannels > 2 })
    func `each channel of each layout has its place, in every container, written and read`(
        _ codec: AudioCodec
    ) async throws {
        let formats = AudioFormat.all.filter {
            $0.codecs.contains(codec.name) && !["raw", "adts"].contains($0.name) && !$0.isSegmented && !$0.isPicture
        }
        for (number, layout) in (codec.layouts ?? AudioCodec.xiph + ["5.1(side)"]).enumerated() {
            let tones = Tones(layout: layout)
            guard tones.count > 2 else { continue }
            let source = try await Studio.shared.source(
                "tones-\(layout).wav",
                ["-f", "lavfi", "-i", "aevalsrc='\(tones.expressions)':c=\(layout):s=48000:d=0.4"])
            var paths: [String] = []
            let takers = formats.filter {
                $0.channelCounts(of: codec).contains(tones.count) && $0.layouts(of: codec)?.contains(layout) ?? true
            }
            // Lossy codecs have an order of their own: each container has the first layout and some of the others.
            let some = takers.indices.filter { codec.kind != .lossy || number == 0 || $0 == number % takers.count }
            for format in some.map({ takers[$0] }) {
                let written = try await convert(source, Rendition(format: format.name, codec: codec.name))
                paths.append(written.path)
                paths.append(try await convert(written.path, Rendition(format: "wav")).path)
            }
            let resampled = paths.isEmpty ? [] : try await decode(paths, as: Int16.self, "s16le", rate: 48_000)
            for (path, samples) in zip(paths, resampled) {
                let places = Array(0..<tones.count)
                #expect(tones.order(samples) == places, "\(codec.name), \(layout), \(path)")
            }
        }
    }

    @Test(arguments: [(3, "2.1"), (6, "5.1")])
    func `unnamed channels get the usual names, with a warning`(_ channels: Int, _ layout: String) async throws {
        let converted = try await convert(Self.unnamed(channels), Rendition(format: "flac"))
        #expect(converted.result.settings["channel_layout"]?.effective == layout)
        let words = ["\(channels) channels", layout]
        #expect(converted.result.warnings.contains { warning in words.allSatisfy { warning.message.contains($0) } })
    }

    @Test func `channels without usual names are kept, or the error says what to do`() async throws {
        let source = try Self.unnamed(11)
        #expect(try await convert(source, Rendition(format: "wav")).result.channels == 11)
        let refused = await failure(source, Rendition(format: "flac"))
        #expect(refused?.sentence.contains("channel_map") == true, "\(refused?.sentence ?? "")")
    }

    /// A tenth of a second of silence whose header names no channel.
    private static func unnamed(_ channels: Int) throws -> String {
        let samples = [UInt8](repeating: 0, count: channels * 2 * 4800)
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        var format = little(1, 2) + little(channels, 2) + little(48_000, 4)
        format += little(96_000 * channels, 4) + little(2 * channels, 2) + little(16, 2)
        let chunks = Array("WAVEfmt ".utf8) + little(16, 4) + format + Array("data".utf8) + little(samples.count, 4)
        return try Studio.shared.folder.write(
            "unnamed-\(channels).wav", Array("RIFF".utf8) + little(chunks.count + samples.count, 4) + chunks + samples)
    }

    @Test func `FLAC stores a layout that its channel count does not imply, if the container can`() async throws {
        let source = try await Studio.shared.source(
            "two-one.wav", ["-f", "lavfi", "-i", "aevalsrc='0.1|0.2|0.3':c=2.1:s=44100:d=0.2"])
        var tagged = Rendition(format: "flac")
        tagged.tags = TagSettings(metadata: ["title": ["Tief"]])
        let file = try await convert(source, tagged)
        #expect(try await ffprobe(file.path, "stream=channel_layout") == "2.1")
        #expect(try await ffprobe(file.path, "format_tags=title") == "Tief")
        var copy = Rendition(format: "flac")
        copy.passthrough = .require
        let copied = try await convert(file.path, copy)
        #expect(try await ffprobe(copied.path, "stream=channel_layout") == "2.1")
        for format in ["oga", "mp4"] {
            let named = try await convert(source, Rendition(format: format, codec: "flac"))
            #expect(try await ffprobe(named.path, "stream=channel_layout") == "3.0")
            #expect(named.result.settings["channel_layout"]?.effective == "3.0")
            #expect(named.result.warnings.contains { $0.code == "layout_changed" })
        }
    }

    @Test func `channels are mixed down for MP3, with a warning`() async throws {
        let converted = try await convert(surround(), Rendition(format: "mp3"))
        #expect(converted.result.channels == 2)
        #expect(converted.result.warnings.contains { $0.message.contains("2 channels") })
    }

    @Test func `the nearest higher sample rate is taken, and a lower one causes a warning`() async throws {
        let opus = try await convert(Studio.shared.music(), Rendition(format: "opus"), end: MediaTime(parsing: "1")!)
        #expect(opus.result.sampleRate == 48_000)
        #expect(opus.result.warnings.isEmpty)
        #expect(opus.result.settings["sample_rate"] == Setting(requested: nil, effective: "48000"))
        let source = try await Studio.shared.music(as: "high.wav", ["-ar", "96000"])
        let lowered = try await convert(source, Rendition(format: "mp3"))
        #expect(lowered.result.sampleRate == 48_000)
        #expect(lowered.result.warnings.contains { $0.message.contains("96000") && $0.message.contains("48000") })
        let low = try await Studio.shared.music(as: "low.wav", ["-ar", "11025"])
        let fast = try await convert(low, Rendition(format: "mp3", bitRate: 192_000))
        #expect(fast.result.sampleRate == 32_000)
    }

    @Test func `settings that the source makes wrong are refused`() async throws {
        let low = try await Studio.shared.music(as: "low.wav", ["-ar", "11025"])
        let refused = await failure(low, Rendition(format: "ogg", bitRate: 320_000))
        guard case .invalidSettings = refused?.reason else { Issue.record("\(String(describing: refused))"); return }
        #expect(refused?.sentence.contains("16000 to 100000") == true)
    }
}
