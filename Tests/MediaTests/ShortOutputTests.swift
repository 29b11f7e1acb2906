import Conversion
import Encoding
import FoundationEssentials
import HLS
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// What respool writes it reads, however short it is.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ShortOutputTests {
    /// Samples beside the lengths of frames. Without loss, only the first few differ from each other.
    private static func lengths(isLossy: Bool) -> [Int] {
        isLossy ? [1, 3, 160, 576, 577, 1153, 1536, 4410] : [1, 2, 3, 577, 4410]
    }
    private static let rows = AudioFormat.all.filter { $0.name != "raw" && !$0.isSegmented && !$0.isPicture }
        .flatMap { format in format.codecs.map { (format.name, $0) } }

    @Test(arguments: rows)
    func `a result of any length can be read`(_ format: String, _ codec: String) async throws {
        let rate = Self.rate(codec)
        let channels = codec == "gsm" ? 1 : 2
        let isLossy = AudioCodec.named(codec)!.kind == .lossy
        let problems = try await onThread {
            Self.lengths(isLossy: isLossy).compactMap { length -> String? in
                let wave = Self.wave(length, channels: channels, rate: rate)
                do {
                    let made = try wave.converted(to: Rendition(format: format, codec: codec))
                    let found = try made.file.samples()
                    let extra = made.result.gapless.start + made.result.gapless.end
                    // What other players give beside the sound, respool may know how to leave out.
                    let possible = [channels * length, channels * (length + extra)]
                    guard made.result.samples == length, possible.contains(found.count) else {
                        return "\(length): \(made.result.samples) and \(extra) written, \(found.count / channels) read"
                    }
                    guard !isLossy else { return nil }
                    return try found == wave.samples() ? nil : "\(length): other samples"
                } catch { return "\(length): \(error)" }
            }
        }
        #expect(problems == [])
    }

    @Test(
        arguments: SegmentSettings.Container.allCases.flatMap { container in container.codecs.map { (container, $0) } })
    func `a stream of any length can be read`(_ container: SegmentSettings.Container, _ codec: String) async throws {
        let rate = Self.rate(codec)
        let folder = await Studio.shared.output("hls")
        let problems = try await onThread {
            Self.lengths(isLossy: AudioCodec.named(codec)!.kind == .lossy).compactMap { length -> String? in
                do {
                    let (written, read) = try Self.stream(
                        Self.wave(length, channels: 2, rate: rate), codec, container, "\(folder)-\(length)")
                    let total = length + written.gapless.start + written.gapless.end
                    // A transport stream does not declare where the audio ends in its last packet, and a fragment of
                    // MP3 or Opus declares too little.
                    let isDeclared = container == .fmp4 && codec == "aac"
                    let rest =
                        isDeclared ? 0 : ["aac": 1023, "mp3": 1153, "opus": 959, "ac3": 1535, "eac3": 1535][codec] ?? 0
                    guard written.samples == length, read == length || (total...total + rest).contains(read) else {
                        return "\(length): \(written.samples) written, \(total) with padding, \(read) read"
                    }
                    return nil
                } catch { return "\(length): \(error)" }
            }
        }
        #expect(problems == [])
    }

    /// Writes a stream, and counts the samples that are read from it.
    private static func stream(
        _ wave: MemoryFile, _ codec: String, _ container: SegmentSettings.Container, _ folder: String
    ) throws -> (ConversionResult, Int) {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var rendition = Rendition(format: "hls", codec: codec)
        rendition.segments = SegmentSettings(container: container)
        let stores = FolderStores(folder)
        let results = try Converter.run(
            source: wave, stores: stores, plan: ConversionPlan(renditions: [rendition]), stop: CancellationFlag(),
            progress: { _ in })
        try stores.save()
        let playlist = "\(folder)/master.m3u8"
        let source = try HLSSource.resolve(
            MemorySource(path: playlist), nested: try FolderSources(of: playlist), settings: SourceSettings(),
            stop: CancellationFlag())
        let read = try Converter.run(
            source: source, store: MemoryFile(), rendition: Rendition(format: "wav"), range: .whole,
            stop: CancellationFlag(),
            progress: { _ in })
        return (try results[0].get(), Int(read.samples))
    }

    private static func rate(_ codec: String) -> Int {
        ["opus": 48_000, "speex": 16_000, "gsm": 8000][codec] ?? 44_100
    }

    /// A WAV file of a tone.
    private static func wave(_ length: Int, channels: Int, rate: Int) -> MemoryFile {
        let size = 2 * length * channels
        var bytes = Array("RIFF".utf8)
        bytes += little(36 + size, 4)
        bytes += Array("WAVEfmt ".utf8)
        bytes += little(16, 4) + little(1, 2)
        bytes += little(channels, 2)
        bytes += little(rate, 4) + little(2 * rate * channels, 4)
        bytes += little(2 * channels, 2) + little(16, 2)
        bytes += Array("data".utf8)
        bytes += little(size, 4)
        for index in 0..<length * channels {
            let phase: Int = index * 7 % 200 - 100
            bytes += little(100 * phase, 2)
        }
        return MemoryFile(bytes)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
