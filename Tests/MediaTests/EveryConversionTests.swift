import FoundationEssentials
import Glibc
import Media
import MediaTypes
import TestSupport
import Testing

/// Every output at every rate and layout, and every kind of source to every output, held against a formula.
@Suite(.timeLimit(.minutes(5))) struct EveryConversionTests {
    static let shapes = [(channels: 1, rate: 8000), (channels: 2, rate: 44_100), (channels: 6, rate: 96_000)]
    /// What respool's reader does not read as its writer means it: GSM without a header is nothing by itself, and the
    /// padding of these two is told to nobody, or to respool alone.
    static let unread: Set = ["gsm/gsm", "mov/ima4", "caf/ima4", "caf/opus"]
    static let seconds = 0.25
    static let title = "Пример"

    /// A tone that rises to an eighth of what a source's rate, or 48 kHz, can hold: one sample late is another sample.
    static func sample(_ index: Int, _ channel: Int, of source: Int, at rate: Int) -> Double {
        let (time, span) = (Double(index) / Double(rate), Double(min(source, 48_000)))
        let rise = span / 8 * (0.7 + 0.05 * Double(channel)) - span / 64
        return 0.4 * sin(2 * .pi * (span / 64 * time + rise * time * time / (2 * seconds)))
    }

    /// The formula as a 16-bit WAV file.
    static func wave(channels: Int, rate: Int) -> [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let count = Int(seconds * Double(rate))
        var body: [UInt8] = []
        for index in 0..<count {
            for channel in 0..<channels { body += little(Int(sample(index, channel, of: rate, at: rate) * 32_767), 2) }
        }
        let format =
            little(1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * 2, 4)
            + little(channels * 2, 2) + little(16, 2)
        return Array("RIFF".utf8) + little(36 + body.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8) + little(body.count, 4) + body
    }

    /// Every pair of format and codec that makes one file with a header.
    static var outputs: [(format: AudioFormat, codec: AudioCodec)] {
        AudioFormat.all.filter { !$0.isSegmented && !$0.isPicture && $0.name != "raw" }.flatMap { format in
            format.codecs.compactMap { AudioCodec.named($0) }.map { (format, $0) }
        }
    }

    /// Converts and holds the result against the formula; says what is wrong, if anything is.
    static func judge(
        _ source: MemoryFile, _ rendition: Rendition, codec: AudioCodec, channels: Int, rate: Int, floor: Double
    ) throws -> String? {
        let (result, file) = try source.converted(to: rendition)
        // Decoders give Opus at 48 kHz, whatever rate it was made from.
        let out = codec.name == "opus" ? 48_000 : result.sampleRate
        let count = (Int(seconds * Double(rate)) * out + rate - 1) / rate
        let length = Double(result.samples) / Double(result.sampleRate)
        guard abs(length * Double(out) - Double(count)) < Double(out / result.sampleRate + 1) else {
            return "\(result.samples) samples for \(count)"
        }
        guard !unread.contains("\(result.format)/\(result.codec)") else { return nil }
        let found = try file.samples()
        let total = count + result.gapless.start + result.gapless.end
        // libav miscounts Vorbis in Ogg where all of it is one page.
        let slack = codec.name == "vorbis" ? 8192 : 0
        guard (total - slack...total + slack).contains(found.count / result.channels) else {
            return "the file gives \(found.count / result.channels) samples for \(total)"
        }
        guard result.channels == channels, !["speex", "gsm"].contains(codec.name) else { return nil }
        var (signal, noise) = (0.0, 1e-12)
        for channel in 0..<channels where !(channels == 6 && channel == 3 && codec.kind == .lossy) {
            for index in 0..<min(count, found.count / channels - result.gapless.start) {
                let wanted = sample(index, channel, of: rate, at: out)
                let got = Double(found[(index + result.gapless.start) * channels + channel])
                signal += wanted * wanted
                noise += (wanted - got) * (wanted - got)
            }
        }
        let decibels = 10 * log10(signal / noise)
        return decibels < floor ? "\(decibels) dB to the formula" : nil
    }

    @Test(arguments: shapes.indices) func `every output takes every rate and layout`(number: Int) async throws {
        let (channels, rate) = Self.shapes[number]
        let faults = try await onThread {
            let source = MemoryFile(Self.wave(channels: channels, rate: rate))
            var faults: [String] = []
            for (format, codec) in Self.outputs {
                let floor = codec.kind == .lossy ? 6.0 : 30
                do {
                    if let fault = try Self.judge(
                        source, Rendition(format: format.name, codec: codec.name), codec: codec, channels: channels,
                        rate: rate, floor: floor)
                    {
                        faults.append("\(format.name)/\(codec.name): \(fault)")
                    }
                } catch { faults.append("\(format.name)/\(codec.name): \(error)") }
            }
            return faults
        }
        #expect(faults.isEmpty, "\(faults)")
    }

    /// How sources are made, and whether anything is lost on the way.
    static let sources: [(name: String, arguments: [String], isLossy: Bool)] = [
        ("each.wav", [], false),
        ("each-float.wav", ["-c:a", "pcm_f32le"], false),
        ("each.caf", [], false),
        ("each.flac", [], false), ("each.oga", ["-c:a", "flac"], false),
        ("each-flac.mka", ["-c:a", "flac"], false), ("each-alac.m4a", ["-c:a", "alac"], false),
        ("each.wv", [], false), ("each.mp3", ["-b:a", "256k"], true),
        ("each.m4a", ["-c:a", "aac", "-b:a", "192k"], true),
        ("each-opus.opus", ["-c:a", "libopus"], true),
        ("each-opus.webm", ["-c:a", "libopus"], true),
    ]

    @Test(arguments: sources.indices) func `every kind of source becomes every output`(number: Int) async throws {
        let (name, arguments, isLossy) = Self.sources[number]
        let rate = 48_000
        let plain = Studio.shared.folder.file("each-plain-\(number).wav")
        try Data(Self.wave(channels: 2, rate: rate)).write(to: URL(filePath: plain))
        let path = try await Studio.shared.source(
            name, ["-i", plain, "-metadata", "title=\(Self.title)"] + arguments)
        let faults = try await onThread {
            let source = try MemoryFile(path: path)
            var faults: [String] = []
            for (format, codec) in Self.outputs {
                do {
                    var rendition = Rendition(format: format.name, codec: codec.name)
                    rendition.passthrough = .auto
                    let floor = codec.kind == .lossy || isLossy ? 6.0 : 60
                    if let fault = try Self.judge(
                        source, rendition, codec: codec, channels: 2, rate: rate, floor: floor)
                    {
                        faults.append("\(format.name)/\(codec.name): \(fault)")
                    }
                } catch { faults.append("\(format.name)/\(codec.name): \(error)") }
            }
            return faults
        }
        #expect(faults.isEmpty, "\(name): \(faults)")
    }
}
