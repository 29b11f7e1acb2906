import Foundation
import Media
import MediaTypes
import Testing

@Suite struct OutputTableTests {
    @Test func `writes every row of the table, and it decodes to the source`() async throws {
        let rows = AudioFormat.all.filter { !$0.isSegmented }.flatMap { format in
            format.codecs.map { (format.name, AudioCodec.named($0)!) }
        }
        let source = try await Studio.shared.music()
        var paths: [String] = []
        for (format, codec) in rows {
            let converted = try await convert(source, Rendition(format: format, codec: codec.name))
            let rate = codec.name == "opus" ? 48_000 : 44_100
            let result = converted.result
            #expect((result.format, result.codec, result.channels, result.sampleRate) == (format, codec.name, 2, rate))
            #expect(result.samples == Int64(6 * rate))
            paths.append(converted.path)
        }
        let decoded = try await decode([source] + paths, as: Int16.self, "s16le")
        let lines = try await describe(paths)
        for (((_, codec), samples), line) in zip(zip(rows, decoded.dropFirst()), lines) {
            #expect(line.contains("Audio: \(codec.kind == .pcm ? "pcm_s16" : codec.name)"))
            if codec.kind != .lossy {
                #expect(samples == decoded[0], "\(line)")
            } else if codec.name != "opus" {
                #expect(signalToNoise(samples, decoded[0]) > 12, "\(line)")
            }
            if codec.name != "aac" { #expect(samples.count == (codec.name == "opus" ? 576_000 : 529_200), "\(line)") }
        }
    }

    /// Decibels in the middle of both; a shift by a single frame would leave nothing.
    private func signalToNoise(_ samples: [Int16], _ original: [Int16]) -> Double {
        var (signal, noise) = (0.0, 0.0)
        for index in 100_000..<120_000 {
            let (value, wanted) = (Double(samples[index]), Double(original[index]))
            signal += wanted * wanted
            noise += (value - wanted) * (value - wanted)
        }
        return 10 * log10(signal / noise)
    }

    @Test(arguments: ["wav", "aiff", "caf"])
    func `writes every PCM format with its own byte order`(_ name: String) async throws {
        let format = AudioFormat.named(name)!
        let source = try await Studio.shared.music()
        let paths = try await write(
            format.pcmFormats.map { Rendition(format: name, codec: "pcm", sampleFormat: $0) })
        let decoded = try await decode([source] + paths, as: Int16.self, "s16le")
        let lines = try await describe(paths)
        for ((sampleFormat, samples), line) in zip(zip(format.pcmFormats, decoded.dropFirst()), lines) {
            let order = (sampleFormat.byteOrder ?? format.byteOrder) == .little ? "le" : "be"
            #expect(line.contains("pcm_\(sampleFormat.base.rawValue)\(sampleFormat.bits == 8 ? "" : order)"))
            #expect(samples.count == 17_640)
            let most = sampleFormat.bits == 8 ? 2 * 256 : 0
            #expect(zip(samples, decoded[0]).allSatisfy { abs(Int($0) - Int($1)) <= most }, "\(line)")
        }
    }

    @Test(arguments: AudioCodec.all)
    func `writes every sample rate that the table lists`(_ codec: AudioCodec) async throws {
        let rates = codec.sampleRates ?? [codec.lowestSampleRate, 22_050, 88_200, codec.highestSampleRate]
        let paths = try await write(
            rates.map { Rendition(format: Self.format(codec), codec: codec.name, sampleRate: $0) })
        for (rate, line) in zip(rates, try await describe(paths)) {
            #expect(line.contains(codec.name == "opus" ? " 48000 Hz" : " \(rate) Hz"))
        }
    }

    @Test(arguments: AudioCodec.all)
    func `writes every number of channels that the table lists`(_ codec: AudioCodec) async throws {
        let counts = Array(1...min(codec.mostChannels, 8))
        let paths = try await write(
            counts.map { Rendition(format: Self.format(codec), codec: codec.name, channels: $0) })
        let names = [["mono"], ["stereo"], ["3.0", "2.1"], ["4.0", "quad"], ["5.0"], ["5.1"], ["6.1"], ["7.1"]]
        for (count, line) in zip(counts, try await describe(paths)) {
            #expect(names[count - 1].contains { line.contains(" Hz, \($0)") }, "\(line)")
        }
    }

    @Test(arguments: [44_100, 22_050, 8000])
    func `writes every constant bit rate of MP3 as it was asked for`(_ rate: Int) async throws {
        guard case .steps(let steps) = AudioCodec.named("mp3")!.bitRates(sampleRate: rate, channels: 2) else { return }
        let paths = try await write(steps.map { Rendition(format: "mp3", bitRate: $0, sampleRate: rate) })
        for (bitRate, line) in zip(steps, try await describe(paths)) {
            #expect(line.contains(" \(bitRate / 1000) kb/s"), "\(line)")
        }
    }

    private static func format(_ codec: AudioCodec) -> String {
        AudioFormat.all.first { $0.codecs.contains(codec.name) }!.name
    }

    /// Paths of short results, one for each rendition.
    private func write(_ renditions: [Rendition]) async throws -> [String] {
        var paths: [String] = []
        for rendition in renditions {
            paths.append(try await convert(Studio.shared.music(), rendition, end: MediaTime(parsing: "0.2")!).path)
        }
        return paths
    }

    @Test(arguments: ["aac", "opus", "vorbis"], [1, 2, 6])
    func `takes the ends of every range of bit rates`(_ codec: String, _ channels: Int) async throws {
        let format = AudioFormat.all.first { $0.codecs.contains(codec) }!.name
        for rate in [8000, 16_000, 48_000] {
            guard case .range(let range) = AudioCodec.named(codec)!.bitRates(sampleRate: rate, channels: channels)
            else { return }
            for bitRate in [range.lowerBound, range.upperBound] {
                let rendition = Rendition(
                    format: format, codec: codec, bitRate: bitRate, sampleRate: rate, channels: channels)
                _ = try await convert(Studio.shared.music(), rendition, end: MediaTime(parsing: "0.3")!)
            }
        }
    }

    @Test(arguments: [("mp3", 0.0), ("mp3", 9), ("mp3", 4.5), ("ogg", -1), ("ogg", 10)])
    func `takes the ends of every quality scale`(_ format: String, _ quality: Double) async throws {
        _ = try await convert(
            Studio.shared.music(), Rendition(format: format, quality: quality), end: MediaTime(parsing: "0.5")!)
    }
}
