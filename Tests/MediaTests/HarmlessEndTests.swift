import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Files that look cut short, and are whole, or lack no more than a part of their last frame.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct HarmlessEndTests {
    @Test func `FLAC of 32 bits is refused by name`() async throws {
        let music = try await Studio.shared.music(as: "wide.wav", ["-c:a", "pcm_s32le"])
        let path = await Studio.shared.output("flac")
        #expect(try await ChildProcess.run("flac", ["-s", "-f", music, "-o", path]).succeeded)
        let error = await failure(path)
        guard case .unsupportedFormat = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.sentence == "the audio is FLAC with 32 bits per sample, which libav cannot decode")
    }

    @Test func `an MPEG-4 file with all its samples is read whole, whatever length its last box claims`()
        async throws
    {
        let path = try await Studio.shared.music(as: "long-box.m4a", ["-movflags", "+faststart"])
        var bytes = try fileBytes(path)
        let whole = try run(bytes)
        let name = try #require(bytes.indices.last { bytes[$0...].starts(with: "mdat".utf8) })
        let size = bytes.count - name + 4 + 5000
        for index in 0..<4 { bytes[name - 4 + index] = UInt8(truncatingIfNeeded: size >> (24 - 8 * index)) }
        let result = try run(bytes)
        #expect(result.samples == whole.samples)
        #expect(result.warnings.map(\.code) == ["source_truncated"])
        // A sample less, and sound is missing.
        let error = #expect(throws: MediaError.self) { try run(bytes.dropLast()) }
        guard case .truncated = error?.reason else { Issue.record("\(String(describing: error))"); return }
    }

    @Test(arguments: ["aac", "mp2", "ac3", "libmp3lame"])
    func `a recording of a transport stream may end inside a frame`(_ codec: String) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: "recorded-\(codec).ts", ["-c:a", codec]))
        let whole = try MemoryFile(bytes).samples()
        var warned = 0
        for packets in stride(from: bytes.count / 376, to: bytes.count / 376 + 9, by: 1) {
            let result = try run(bytes.prefix(188 * packets))
            #expect(result.damage == Damage(seconds: 0, events: 0))
            #expect(result.warnings.allSatisfy { $0.code == "source_truncated" }, "\(result.warnings)")
            warned += result.warnings.count
            #expect(result.samples > 80_000)
            // Nothing is made up for the rest of the last frame.
            let isBeginning = try whole.starts(with: MemoryFile(Array(bytes.prefix(188 * packets))).samples())
            #expect(isBeginning)
        }
        #expect(warned > 0)
        // What is missing further in is damage, whatever the end is like.
        let packets = bytes.count / 376
        let gap = 188 * (packets / 2)
        let broken = MemoryFile(Array(bytes[..<gap] + bytes[(gap + 188 * 40)..<188 * packets]))
        let plan = ConversionPlan(
            source: SourceSettings(damage: .accept), renditions: [Rendition(format: "wav")])
        let damaged = try Converter.run(
            source: broken, stores: OneStore(MemoryFile()), plan: plan, stop: CancellationFlag(), progress: { _ in })[0]
            .get()
        #expect(damaged.warnings.contains { $0.code == "damaged" }, "\(damaged)")
        #expect(damaged.damage.seconds > 0)
        // What ends inside a packet was cut by something else.
        #expect(throws: MediaError.self) { try run(bytes.prefix(188 * (bytes.count / 376) + 100)) }
    }

    /// An ID3v1 tag, APEv2 with and without the header that its flags declare, and several tags.
    private static let tags: [[UInt8]] = {
        let old = Array("TAGOld".utf8) + [UInt8](repeating: 0, count: 121) + [255]
        let end = Array("APETAGEX".utf8) + [208, 7, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0]
        let (bare, both) = (
            end + [0, 0, 0, 0x80] + zeros, end + [0, 0, 0, 0xA0] + zeros + end + [0, 0, 0, 0x80] + zeros
        )
        return [old, bare, both, both + old]
    }()
    private static let zeros = [UInt8](repeating: 0, count: 8)

    @Test(arguments: [
        "mp3", "aac", "ac3", "eac3", "flac", "tta", "ogg", "opus", "wav", "aiff", "caf", "au", "w64", "m4a",
        "mka", "wv",
    ])
    func `tags of music files behind the last frame cause no warning`(_ container: String) async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: "followed.\(container)"))
        let whole = try run(bytes)
        for tag in Self.tags {
            let result = try run(bytes + tag)
            #expect(result.samples == whole.samples)
            #expect(result.warnings == whole.warnings, "\(result.warnings)")
        }
        if container == "wv" {
            // ID3v2 without a footer, alone and around others.
            let id3 = Array("ID3".utf8) + [4, 0, 0, 0, 0, 2, 0] + [UInt8](repeating: 0, count: 256)
            for tag in [id3, id3 + Self.tags[2], Self.tags[2] + id3, Self.tags[2] + id3 + Self.tags[0]] {
                #expect(try run(bytes + tag).warnings == whole.warnings)
            }
        }
        guard container == "flac" else { return }
        let other = try run(bytes + [UInt8](repeating: 0x55, count: 200) + Self.tags[0])
        #expect(other.warnings.map(\.code) == ["junk_skipped"])
    }

    private func run(_ bytes: some Sequence<UInt8>) throws -> ConversionResult {
        try MemoryFile(Array(bytes)).converted(to: Rendition(format: "wav")).result
    }
}
