import Encoding
import Foundation
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct OutputTableTests {
    @Test func `every row of the table is written and decodes to the source`() async throws {
        let rows = AudioFormat.all.filter { $0.name != "raw" && !$0.isSegmented && !$0.isPicture }.flatMap { format in
            format.codecs.map { (format.name, AudioCodec.named($0)!) }
        }
        let source = try await Studio.shared.music()
        var paths: [String] = []
        for (format, codec) in rows {
            let converted = try await convert(
                source, Rendition(format: format, codec: codec.name), end: MediaTime(parsing: "1")!)
            let rate = ["opus": 48_000, "speex": 32_000, "gsm": 8000][codec.name] ?? 44_100
            let result = converted.result
            let channels = codec.name == "gsm" ? 1 : 2
            #expect(
                (result.format, result.codec, result.channels, result.sampleRate) == (
                    format, codec.name, channels, rate
                ))
            #expect(result.samples == Int64(rate))
            paths.append(converted.path)
        }
        let decoded = try await decode([source] + paths, as: Int16.self, "s16le")
        let names = ["pcm": "pcm_s16", "ima4": "adpcm_ima_qt", "wma": "wmav2"]
        for (((_, codec), samples), line) in zip(zip(rows, decoded.dropFirst()), try await describe(paths)) {
            #expect(line.contains("Audio: \(names[codec.name] ?? codec.name)"), "\(line)")
            if codec.kind != .lossy { #expect(samples == Array(decoded[0][..<88_200]), "\(line)") }
        }
    }

    @Test(arguments: ["wav", "rf64", "w64", "aiff", "aifc", "caf", "au", "mov", "mka"])
    func `every PCM format is written with its own byte order`(_ name: String) async throws {
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
    func `every sample rate in the table is written`(_ codec: AudioCodec) async throws {
        let rates = codec.sampleRates ?? [codec.lowestSampleRate, 22_050, 88_200, codec.highestSampleRate]
        let paths = try await write(
            rates.map { Rendition(format: Self.format(codec), codec: codec.name, sampleRate: $0) })
        for (rate, line) in zip(rates, try await describe(paths)) {
            #expect(line.contains(codec.name == "opus" ? " 48000 Hz" : " \(rate) Hz"), "\(line)")
        }
    }

    @Test(arguments: AudioCodec.all)
    func `every number of channels in the table is written`(_ codec: AudioCodec) async throws {
        let counts = codec.channelCounts.filter { $0 <= 8 }
        let paths = try await write(
            counts.map { Rendition(format: Self.format(codec), codec: codec.name, channels: $0) })
        let names = [
            ["mono"], ["stereo"], ["3.0", "2.1"], ["4.0", "quad"], ["5.0"], ["5.1"], ["6.1"], ["7.1"],
        ]
        for (count, line) in zip(counts, try await describe(paths)) {
            #expect(names[count - 1].contains { line.contains(" Hz, \($0)") }, "\(line)")
        }
    }

    @Test(arguments: ["mp3", "mp2", "ac3"], [48_000, 44_100, 22_050, 8000])
    func `every constant bit rate is written as requested`(_ name: String, _ rate: Int) async throws {
        let codec = AudioCodec.named(name)!
        guard codec.takes(sampleRate: rate) else { return }
        var written: Set<Int> = []
        for channels in 1...2 {
            guard case .steps(let steps) = codec.bitRates(sampleRate: rate, channels: channels) else { return }
            let some = Self.some(steps, channels, written)
            written.formUnion(some)
            let paths = try await write(
                some.map { Rendition(format: name, bitRate: $0, sampleRate: rate, channels: channels) })
            for (bitRate, line) in zip(some, try await describe(paths)) {
                #expect(line.contains(" \(bitRate / 1000) kb/s"), "\(line)")
            }
        }
    }

    @Test(arguments: [8000, 16_000, 32_000])
    func `every constant bit rate of Speex is accepted`(_ rate: Int) async throws {
        var written: Set<Int> = []
        for channels in 1...2 {
            guard
                case .steps(let steps) = AudioCodec.named("speex")!.bitRates(sampleRate: rate, channels: channels)
            else { return }
            let some = Self.some(steps, channels, written)
            written.formUnion(some)
            _ = try await write(
                some.map { Rendition(format: "speex", bitRate: $0, sampleRate: rate, channels: channels) })
        }
    }

    /// The lowest and the highest, and between them every other one for one channel, and those that were not written for two.
    private static func some(_ steps: [Int], _ channels: Int, _ written: Set<Int>) -> [Int] {
        steps.enumerated().filter { offset, step in
            offset == 0 || offset == steps.count - 1 || (channels == 1 ? offset % 2 == 0 : !written.contains(step))
        }
        .map(\.element)
    }

    private static func format(_ codec: AudioCodec) -> String {
        let others = ["aac": "m4a", "vorbis": "ogg", "pcm": "wav", "wavpack": "wv", "ima4": "caf"]
        return others[codec.name] ?? codec.name
    }

    @Test(arguments: SampleFormat.allCases)
    func `raw samples are written in every sample format`(_ sampleFormat: SampleFormat) async throws {
        let source = try await Studio.shared.music()
        let converted = try await convert(
            source, Rendition(format: "raw", sampleFormat: sampleFormat), end: MediaTime(parsing: "0.2")!)
        let order = sampleFormat.byteOrder == .big ? "be" : "le"
        let name = sampleFormat.bits == 8 ? sampleFormat.rawValue : sampleFormat.base.rawValue + order
        let raw = await Studio.shared.output("raw")
        let depth = sampleFormat.bits == 8 ? ["-af", "aresample=osf=u8:dither_method=0"] : []
        try await Studio.ffmpeg(["-i", source, "-t", "0.2"] + depth + ["-f", name, raw])
        let (written, expected) = (try fileBytes(converted.path), try fileBytes(raw))
        #expect(written.count == 8820 * 2 * sampleFormat.bits / 8)
        // Eight bits are dithered.
        if sampleFormat.bits > 8 { #expect(written == expected) } else { #expect(written.count == expected.count) }
    }

    /// Paths of short results, one for each rendition.
    private func write(_ renditions: [Rendition]) async throws -> [String] {
        var paths: [String] = []
        for rendition in renditions {
            paths.append(try await convert(Studio.shared.music(), rendition, end: MediaTime(parsing: "0.2")!).path)
        }
        return paths
    }

    @Test(arguments: ["aac", "opus", "vorbis", "eac3", "wma"], [1, 2, 6])
    func `the ends of every range of bit rates are accepted`(_ codec: String, _ channels: Int) async throws {
        let row = AudioCodec.named(codec)!
        let format = Self.format(row)
        for rate in [8000, 16_000, 32_000, 48_000] where row.takes(sampleRate: rate) && channels <= row.maxChannels {
            guard case .range(let range) = AudioCodec.named(codec)!.bitRates(sampleRate: rate, channels: channels)
            else { return }
            for bitRate in [range.lowerBound, range.upperBound] {
                let rendition = Rendition(
                    format: format, codec: codec, bitRate: bitRate, sampleRate: rate, channels: channels)
                _ = try await convert(Studio.shared.music(), rendition, end: MediaTime(parsing: "0.1")!)
            }
        }
    }

    @Test(arguments: [("mp3", 0.0), ("mp3", 9), ("mp3", 4.5), ("ogg", -1), ("ogg", 10), ("speex", 0), ("speex", 10)])
    func `the ends of every quality scale are accepted`(_ format: String, _ quality: Double) async throws {
        _ = try await convert(
            Studio.shared.music(), Rendition(format: format, quality: quality), end: MediaTime(parsing: "0.5")!)
    }
}
