import Bytes
import Conversion
import Encoding
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// The MD5 that FLAC files declare for their samples.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ChecksumTests {
    private static let depths: [(String, [String], String)] = [
        ("md5-16.flac", ["-sample_fmt", "s16"], "s16le"), ("md5-24.flac", ["-sample_fmt", "s32"], "s24le"),
    ]

    @Test(arguments: depths)
    func `samples match the declared MD5, and the result reports its own`(
        _ name: String, _ arguments: [String], _ format: String
    ) async throws {
        let source = try await Studio.shared.music(as: name, arguments)
        let declared = try Array(fileBytes(source)[26..<42])
        #expect(declared.contains { $0 != 0 })
        for (start, target) in [
            (MediaTime.zero, "flac"), (MediaTime(value: 1, timescale: 1), "flac"),
            (MediaTime(value: 1, timescale: 1), "mka"),
        ] {
            let result = try await convert(source, Rendition(format: target, codec: "flac"), start: start)
            #expect(result.result.warnings.isEmpty)
            #expect(try await result.result.audioMD5 == md5(result.path, format))
        }
        var same = Rendition(format: "flac")
        same.passthrough = .require
        let copy = try await convert(source, same)
        #expect(copy.result.copied)
        #expect(try await copy.result.audioMD5 == md5(source, format))
        // Of what declares no sum of its own, the source's is told, once it was found to be right.
        #expect(try await convert(source, Rendition(format: "mp3")).result.audioMD5 == md5(source, format))
        #expect(
            try await convert(source, Rendition(format: "mp3"), start: MediaTime(value: 1, timescale: 1)).result
                .audioMD5
                == nil)
    }

    @Test func `FLAC of 32 bits is decoded to its samples, or refused by name where libav cannot`() async throws {
        let music = try await Studio.shared.music(
            as: "wide.wav", ["-af", "aformat=dbl,volume=0.123:precision=double", "-c:a", "pcm_s32le"])
        let path = await Studio.shared.output("flac")
        #expect(try await ChildProcess.run("flac", ["-s", "-f", music, "-o", path]).succeeded)
        let samples = try await decode(music, as: Int32.self, "s32le")
        #expect(samples.contains { $0 & 0xFF != 0 })
        // Those that libav decodes, according to the ffmpeg of this suite.
        guard (try? await decode(path, as: Int32.self, "s32le")) == samples else {
            let error = await failure(path)
            guard case .unsupportedFormat = error?.reason else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.sentence == "the audio is FLAC with 32 bits per sample, which libav cannot decode")
            return
        }
        let whole = try await convert(path, Rendition(format: "wav"))
        #expect(whole.result.settings["sample_format"]?.effective == "s32")
        #expect(whole.result.warnings.isEmpty)
        #expect(try await whole.result.audioMD5 == md5(music, "s32le"))
        #expect(try await decode(whole.path, as: Int32.self, "s32le") == samples)
        let cut = try await convert(path, Rendition(format: "wav"), start: MediaTime(value: 1, timescale: 1))
        #expect(try await decode(cut.path, as: Int32.self, "s32le") == Array(samples[88_200...]))
        var bytes = try fileBytes(path)
        bytes[30] ^= 1
        let broken = try Studio.shared.folder.write("sum-32.flac", bytes)
        #expect(await failure(broken)?.sentence.contains("the MD5 of the decoded samples differs") == true)
    }

    @Test(arguments: ["u8", "s16le", "s24le", "s32le", "f32le"])
    func `the samples of WavPack match the MD5 that the file declares`(_ format: String) async throws {
        let music = try await Studio.shared.music(as: "pack-\(format).wav", ["-c:a", "pcm_\(format)"])
        let path = await Studio.shared.output("wv")
        let outcome = try await ChildProcess.run("wavpack", ["-q", "-y", "-m", music, "-o", path])
        #expect(outcome.succeeded, "\(outcome.errors)")
        let result = try await convert(path, Rendition(format: "wav", sampleFormat: .f32)).result
        #expect(result.warnings.isEmpty)
        #expect(try await result.audioMD5 == md5(music, format))
        var bytes = try fileBytes(path)
        let sum = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x26, 8]) })
        bytes[sum + 5] ^= 1
        let broken = try Studio.shared.folder.write("sum-\(format).wv", bytes)
        #expect(await failure(broken)?.sentence.contains("the MD5 of the decoded samples differs") == true)
    }

    @Test(arguments: depths)
    func `a wrong declared MD5 fails the conversion, unless damage is accepted`(
        _ name: String, _ arguments: [String], _: String
    ) async throws {
        var bytes = try fileBytes(try await Studio.shared.music(as: name, arguments))
        bytes[30] ^= 1
        try await onThread { [bytes] in
            let source = MemoryFile(bytes)
            let renditions = [Rendition(format: "wav"), Rendition(format: "aiff")]
            for count in [1, 2] {
                let wanted = Array(renditions.prefix(count))
                do {
                    _ = try run(source, SourceSettings(), wanted)
                    Issue.record("\(count) results of it")
                } catch let error as MediaError {
                    guard case .corruptMedia = error.reason else { Issue.record("\(error.reason)"); return }
                    #expect(error.sentence.contains("the MD5 of the decoded samples differs"))
                }
                for result in try run(source, SourceSettings(damage: .accept), wanted) {
                    #expect(try result.get().warnings.map(\.code) == ["md5_mismatch"])
                    #expect(try result.get().samples == 132_300)
                }
            }
            // A cut does not have all the samples.
            for range in [
                TimeRange(start: MediaTime(value: 1, timescale: 1), end: nil),
                TimeRange(start: .zero, end: MediaTime(value: 2, timescale: 1)),
            ] {
                let result = try run(source, SourceSettings(range: range), [renditions[0]])[0].get()
                #expect(result.warnings.isEmpty)
            }
        }
    }

    @Test func `an output that is encoded once more still warns of a wrong MD5`() async throws {
        // Noise that the limiter has at the ceiling all the time: what a codec leaves out lets peaks stand out.
        let noise = "0.3*(2*random(0)-1)+0.25*lt(mod(t,0.1),0.0005)"
        let path = try await Studio.shared.source(
            "rough.flac", ["-f", "lavfi", "-i", "aevalsrc='\(noise)':s=48000:d=4"])
        var bytes = try fileBytes(path)
        bytes[30] ^= 1
        var rendition = Rendition(format: "m4a", bitRate: 32_000)
        rendition.sound.loudness = -9
        let warnings = try await onThread { [bytes, rendition] in
            try run(MemoryFile(bytes), SourceSettings(damage: .accept), [rendition])[0].get().warnings
        }
        #expect(warnings.contains { $0.message.contains("encoded again") }, "\(warnings)")
        #expect(warnings.contains { $0.code == "md5_mismatch" }, "\(warnings)")
    }

    private func run(
        _ source: MemoryFile, _ settings: SourceSettings, _ renditions: [Rendition]
    ) throws -> [Result<ConversionResult, MediaError>] {
        let plan = ConversionPlan(source: settings, renditions: renditions)
        return try Converter.run(
            source: source, stores: FreshStores(), plan: plan, stop: CancellationFlag(), progress: { _ in })
    }
}

/// A store in memory for every output.
private final class FreshStores: OutputStores {
    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput { MemoryFile() }
}
