import Bytes
import Conversion
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// xHE-AAC (USAC, ISO 23003-3), for which there is no free encoder: silence that is written here.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ExtendedAACTests {
    /// Mono at 44.1 kHz in frames of 1,024 samples: object type 42, and a UsacConfig with one single channel element.
    private static let configuration: [UInt8] = [0xF9, 0x48, 0x24, 0x21, 0, 0]
    /// An independent frame in the frequency domain, with no scale factor bands.
    private static let silence: [UInt8] = [0x8C, 0x80, 0]

    private func movie(frames: Int, configuration: [UInt8] = configuration) throws -> String {
        let movie = MovieFile(
            packets: Array(repeating: Self.silence, count: frames), configuration: configuration, rate: 44_100,
            packetSamples: 1024, scale: 44_100)
        return try Studio.shared.folder.write("usac-\(frames)-\(configuration.count).m4a", movie.whole())
    }

    /// Whether the ffmpeg of this suite decodes it.
    private func isDecoded(_ path: String) async -> Bool {
        (try? await decode(path, as: Int16.self, "s16le"))?.isEmpty == false
    }

    @Test func `xHE-AAC is decoded, or refused by name where libav cannot`() async throws {
        let path = try movie(frames: 100)
        guard await isDecoded(path) else {
            let error = await failure(path)
            guard case .unsupportedFormat = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.sentence == "the audio is xHE-AAC, which libav cannot decode")
            return
        }
        let result = try await convert(path, Rendition(format: "wav", sampleFormat: .f32))
        #expect(result.result.warnings.isEmpty)
        #expect(try await decode(result.path, as: Float.self, "f32le") == Array(repeating: 0, count: 102_400))
        var copy = Rendition(format: "m4a")
        copy.passthrough = .require
        #expect(await failure(path, copy)?.sentence.contains("can be copied") == true)
    }

    @Test func `a cut of xHE-AAC is decoded from the start, for a frame may depend on all before it`() async throws {
        let path = try movie(frames: 2000)
        guard await isDecoded(path) else { return }
        let bytes = try fileBytes(path)
        let range = TimeRange(start: MediaTime(value: 40, timescale: 1), end: nil)
        try await onThread {
            var reader = try AssetReader.open(
                MemoryFile(bytes), SourceSettings(range: range), stop: CancellationFlag())
            #expect(reader.decodedFrom == 0)
            let frame = try Frame()
            var samples = 0
            while try reader.next(into: frame) { samples += frame.samples }
            #expect(samples == 2000 * 1024 - 40 * 44_100)
        }
    }

    @Test func `a configuration that no decoder knows is refused`() async throws {
        let error = await failure(try movie(frames: 10, configuration: [0xF9, 0x48, 0x40, 0, 0]))
        switch error?.reason {
        case .unsupportedFormat, .corruptMedia: break
        default: Issue.record("\(String(describing: error))")
        }
    }
}
