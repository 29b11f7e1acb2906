import Bytes
import Conversion
import Demuxing
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Files that look cut short, and are whole, or lack no more than a part of their last frame.
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct HarmlessEndTests {
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
            #expect(result.samples > 60_000)
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

    /// Where the last frame of a file of MPEG audio begins.
    private func lastFrame(_ path: String) async throws -> Int {
        let outcome = try await WarmProgram.ffprobe.run(
            ["-v", "error", "-show_entries", "packet=pos", "-of", "csv=p=0", path])
        return try #require(outcome.output.split(separator: "\n").compactMap { Int($0.filter(\.isNumber)) }.last)
    }

    @Test func `an MP3 may lack what is behind the main data of its last frame`() async throws {
        let path = try await Studio.shared.music(
            seconds: 6, as: "old.mp3", ["-reservoir", "0", "-write_xing", "0", "-id3v2_version", "0"])
        let bytes = try fileBytes(path)
        let whole = try await decode(path, as: Float.self, "f32le")
        let last = bytes[try await lastFrame(path)...]
        let frame = try #require(last.withUnsafeBufferPointer { LayerThreeFrame($0) })
        let unused = frame.begin + frame.slotBytes - frame.mainBytes
        try #require(frame.mainBytes > frame.begin && unused > 30)
        for missing in [1, 5, 16, unused] {
            let file = MemoryFile(Array(bytes.dropLast(missing)))
            let isWhole = try file.samples() == whole
            #expect(isWhole, "\(missing)")
            #expect(
                try run(file.bytes).warnings == [
                    Warning(.sourceTruncated, "the source is truncated after its last sample; no audio is missing")
                ])
        }
        // Main data is missing, or the frames behind this one are.
        for missing in [unused + 1, unused / 2] {
            #expect(throws: MediaError.self, "\(missing) of \(unused)") { try run(bytes.dropLast(missing)) }
        }
    }

    @Test(arguments: ["wav", "w64"])
    func `MP3 in a file that has all bytes of its header may end inside a frame`(_ container: String) async throws {
        let path = try await Studio.shared.music(as: "frames.\(container)", ["-c:a", "libmp3lame"])
        var bytes = try fileBytes(path)
        let whole = try MemoryFile(bytes).samples()
        let missing = 377
        bytes.removeLast(missing)
        #expect(throws: MediaError.self) { try run(bytes) }
        let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
        // The size follows the identifier, which has 16 bytes in Wave64.
        let place = container == "wav" ? data : data + 12
        let size = (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } - missing
        bytes.replaceSubrange(place..<place + 4, with: littleEndian(UInt64(size), 4))
        let result = try run(bytes)
        #expect(result.warnings.map(\.message) == ["the recording ends inside a frame, which is left out"])
        #expect(result.damage == Damage(seconds: 0, events: 0))
        let samples = try MemoryFile(bytes).samples()
        #expect(samples.count == whole.count - 2 * 1152)
        let isBeginning = whole.starts(with: samples)
        #expect(isBeginning)
    }

    @Test(arguments: ["avi", "mka", "mp4", "flv"])
    func `a frame that was copied without its end is left out, or completed`(_ container: String) async throws {
        let path = try await Studio.shared.music(
            seconds: 6, as: "old.mp3", ["-reservoir", "0", "-write_xing", "0", "-id3v2_version", "0"])
        let (bytes, whole) = (try fileBytes(path), try MemoryFile(path: path).samples())
        for (missing, lost) in [(10, 0), (300, 2 * 1152)] {
            let short = try Studio.shared.folder.write(
                "short-\(container)-\(missing).mp3", Array(bytes.dropLast(missing)))
            let copy = await Studio.shared.output(container)
            try await Studio.ffmpeg(["-i", short, "-c", "copy", copy])
            let file = try MemoryFile(path: copy)
            let isSame = try file.samples() == Array(whole.dropLast(lost))
            #expect(isSame, "\(missing)")
            #expect(try run(file.bytes).warnings.map(\.code) == ["source_truncated"], "\(missing)")
        }
    }

    @Test func `RealAudio 1.0 of any number of frames is whole`() async throws {
        let raw = try await Studio.shared.source(
            "voice.raw",
            [
                "-f", "lavfi", "-i", "sine=440:r=8000:d=2.34", "-map", "0:a", "-c:a", "real_144", "-f", "data",
            ])
        let frames = try fileBytes(raw)
        // The size of the data, four empty texts, and the codec.
        let header = big(0, 10) + big(frames.count, 4) + big(0, 5) + [4] + Array("lpcJ".utf8)
        let bytes = Array(".ra".utf8) + [0xFD] + big(3, 2) + big(header.count, 2) + header + frames
        try await expectWhole(bytes, samples: frames.count / 20 * 160, lacking: [1, 20, 360])
    }

    @Test func `RealAudio 2.0 is whole if it has the bytes that its header declares`() async throws {
        // Two blocks of 72 frames, which may have any bits.
        let frames = (0..<2 * 72 * 38).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
        let form = big(38, 4) + big(0, 12) + big(12, 2) + big(228, 2) + big(38, 2) + big(0, 2) + big(8000, 2)
        let names = big(0, 2) + big(16, 2) + big(1, 2) + [4] + Array("Int4".utf8) + [4] + Array("28_8".utf8)
        let rest = big(4, 2) + big(57, 4) + big(0, 2) + form + names + [1, 7, 0] + big(0, 4)
        // The size is counted from byte 40 on.
        let size = 16 + rest.count + frames.count - 40
        let bytes = Array(".ra".utf8) + [0xFD] + big(4, 2) + big(0, 2) + Array(".ra4".utf8) + big(size, 4) + rest
        try await expectWhole(bytes + frames, samples: 2 * 72 * 160, lacking: [2, 38, 2736])
    }

    private func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    /// Compares a file with what ffmpeg decodes, and expects an error if it lacks bytes.
    private func expectWhole(_ bytes: [UInt8], samples: Int, lacking: [Int]) async throws {
        let path = try Studio.shared.folder.write("real-\(bytes.count).ra", bytes)
        let expected = try await decode(path, as: Float.self, "f32le")
        #expect(expected.count == samples)
        let (result, file) = try MemoryFile(bytes).converted(to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(result.warnings.isEmpty && result.damage.events == 0, "\(result)")
        let isSame = try file.samples() == expected
        #expect(isSame)
        for missing in lacking { #expect(throws: MediaError.self, "\(missing)") { try run(bytes.dropLast(missing)) } }
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
