import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Sources that hold, or claim to hold, more than anybody recorded.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SourceLimitTests {
    /// What became of a conversion: the samples of the result, or the name of the reason that it failed for.
    private enum Ending: Equatable {
        case samples(Int64, warnings: Set<String>)
        case failed(String)
    }

    private func ending(
        _ bytes: [UInt8], _ rendition: Rendition = Rendition(format: "wav"), damage: DamagePolicy = .fail,
        end: MediaTime? = nil, _ change: @escaping @Sendable (inout SourceLimits) -> Void = { _ in }
    ) async throws -> Ending {
        try await onThread {
            var settings = SourceSettings(range: TimeRange(start: .zero, end: end), damage: damage)
            change(&settings.limits)
            do throws(MediaError) {
                let results = try Converter.run(
                    source: MemoryFile(bytes), stores: OneStore(MemoryFile()),
                    plan: ConversionPlan(source: settings, renditions: [rendition]), stop: CancellationFlag(),
                    progress: { _ in })
                let result = try results[0].get()
                return .samples(result.samples, warnings: Set(result.warnings.map(\.code)))
            } catch {
                return .failed(String("\(error.reason)".prefix { $0 != "(" }))
            }
        }
    }

    private func music(_ name: String, _ arguments: [String] = []) async throws -> [UInt8] {
        try fileBytes(try await Studio.shared.music(as: name, arguments))
    }

    // MARK: - What there is

    @Test func `more sound than the maximum is refused, decoded or copied, but not a part of it`() async throws {
        for name in ["limit.wav", "limit.mp3", "limit.m4a"] {
            let bytes = try await music(name)
            var copy = Rendition(format: "mka", codec: name.hasSuffix("mp3") ? "mp3" : "aac")
            copy.passthrough = .auto
            for rendition in [Rendition(format: "flac"), copy] {
                #expect(try await ending(bytes, rendition) { $0.seconds = 2 } == .failed("tooLong"), "\(name)")
                #expect(try await ending(bytes, rendition) { $0.seconds = 4 } != .failed("tooLong"), "\(name)")
            }
            let part = try await ending(bytes, end: MediaTime(value: 1, timescale: 1)) { $0.seconds = 2 }
            #expect(part == .samples(44_100, warnings: []), "\(name)")
        }
    }

    @Test func `more channels, a higher rate and more tracks than the maximum are refused`() async throws {
        let stereo = try await music("limit.flac")
        #expect(try await ending(stereo) { $0.channels = 1 } == .failed("tooLarge"))
        #expect(try await ending(stereo) { $0.sampleRate = 44_099 } == .failed("tooLarge"))
        #expect(try await ending(stereo) { ($0.channels, $0.sampleRate) = (2, 44_100) } != .failed("tooLarge"))
        let tracks = try await music("limit-tracks.mka", ["-map", "0", "-map", "0", "-map", "0", "-c:a", "flac"])
        #expect(try await ending(tracks) { $0.tracks = 2 } == .failed("tooLarge"))
        #expect(try await ending(tracks) { $0.tracks = 3 } == .samples(132_300, warnings: []))
        await #expect(throws: MediaError.self) {
            try await onThread {
                var limits = SourceLimits()
                limits.tracks = 2
                _ = try Probe.of(MemoryFile(tracks), limits: limits, stop: CancellationFlag())
            }
        }
    }

    @Test func `unbounded sound, and packets without sound, are refused`() async throws {
        let silence = try fileBytes(
            try await Studio.shared.source(
                "silence.flac", ["-f", "lavfi", "-i", "anullsrc=r=48000:cl=stereo:d=100", "-c:a", "flac"]))
        #expect(silence.count < 30_000)
        #expect(try await ending(silence) { $0.expansion = 500 } == .failed("tooLarge"))
        #expect(try await ending(silence) == .samples(4_800_000, warnings: []))
        let mp3 = try await music("limit.mp3")
        #expect(try await ending(mp3) { $0.packetRate = 5 } == .failed("tooLarge"))
        #expect(try await ending(mp3) { $0.packetRate = 50 } == .samples(132_300, warnings: []))
    }

    @Test func `too many chapters are left out`() async throws {
        let list = try Studio.shared.folder.write(
            "chapters.txt",
            Data(
                (";FFMETADATA1\n"
                    + (0..<200).map { "[CHAPTER]\nTIMEBASE=1/100\nSTART=\($0)\nEND=\($0 + 1)\ntitle=\($0)\n" }
                    .joined()).utf8))
        let path = try await Studio.shared.music(
            as: "chapters.mka", ["-f", "ffmetadata", "-i", list, "-map_chapters", "1", "-c:a", "flac"])
        let bytes = try fileBytes(path)
        let mka = Rendition(format: "mka")
        #expect(try await ending(bytes, mka) { $0.chapters = 199 } == .samples(132_300, warnings: ["chapters_dropped"]))
        #expect(try await ending(bytes, mka) { $0.chapters = 200 } == .samples(132_300, warnings: []))
        let probe = try await onThread { try Probe.of(MemoryFile(bytes), stop: CancellationFlag()) }
        #expect(probe.chapters.count == 200)
        var short = probe
        var left = 0
        while short.shorten(by: 1) { left += 1 }
        #expect(short.chapters.isEmpty && short.chaptersLeftOut == 200 && short.tags.isEmpty)
        #expect(left == 8 + probe.tags.count && (short.tagsLeftOut ?? 0) == probe.tags.count)
    }

    @Test(arguments: ["mp3", "flac", "m4a", "opus", "aiff"])
    func `tags and pictures that are larger than the maximum are left out`(name: String) async throws {
        let long = String(repeating: "word ", count: 8000)
        let tagged = try await music(
            "long-comment.\(name)", ["-metadata", "comment=\(long)"] + (name == "aiff" ? ["-write_id3v2", "1"] : []))
        let flac = Rendition(format: "flac")
        let samples: Int64 = name == "opus" ? 144_000 : 132_300
        #expect(try await ending(tagged, flac) { $0.tagBytes = 1000 } == .samples(samples, warnings: ["tags_dropped"]))
        #expect(try await ending(tagged, flac) { $0.tagBytes = 100_000 } == .samples(samples, warnings: []))
        guard ["mp3", "flac", "m4a"].contains(name) else { return }
        let cover = [
            // With `-frames:v`, ffmpeg 7 ends the sound where the picture does.
            "-f", "lavfi", "-i", "testsrc=size=64x64:rate=1:duration=1", "-map", "0:a", "-map", "1:v",
        ]
        let pictured = try await music(
            "small-cover.\(name)", cover + ["-c:v", "png", "-disposition:v", "attached_pic"])
        #expect(
            try await ending(pictured, flac) { $0.pictureBytes = 50 }
                == .samples(132_300, warnings: ["pictures_dropped"]))
        #expect(try await ending(pictured, flac) { $0.pictureBytes = 50_000 } == .samples(132_300, warnings: []))
    }

    // MARK: - What is claimed

    private static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// A file with other bytes at a distance from a mark.
    private func changed(_ bytes: [UInt8], after mark: some Collection<UInt8>, _ distance: Int = 0, _ new: [UInt8])
        throws -> [UInt8]
    {
        var bytes = bytes
        let place = try #require(bytes.firstRange(of: Array(mark))).upperBound + distance
        bytes.replaceSubrange(place..<place + new.count, with: new)
        return bytes
    }

    @Test func `a file that claims a hundred years gives only its samples`() async throws {
        let flac = try await music("limit.flac")
        var years = flac
        // The last 36 bits before the sum (RFC 9639, section 8.2).
        years[21] |= 0x0F
        years.replaceSubrange(22..<26, with: [255, 255, 255, 255])
        #expect(try await ending(years) == .failed("tooLong"))
        #expect(try await ending(years, damage: .accept) == .samples(132_300, warnings: ["source_truncated"]))
        let m4a = try await music("limit.m4a")
        let century = Self.big(0xFFFF_FFF0, 4)
        let claims = [
            try changed(m4a, after: "mdhd".utf8, 12, Self.big(1, 4) + century),
            try changed(m4a, after: "mvhd".utf8, 12, Self.big(1, 4) + century),
            // The first run of packets, and the count of all.
            try changed(m4a, after: "stts".utf8, 8, Self.big(0x7FFF_FFFF, 4)),
            try changed(m4a, after: "stts".utf8, 12, Self.big(0x7FFF_FFFF, 4)),
            try changed(m4a, after: "stsz".utf8, 8, Self.big(0x7FFF_FFFF, 4)),
            try changed(await music("limit.caf"), after: "data".utf8, 0, Self.big(1 << 62, 8)),
            try changed(await music("limit.wav"), after: "data".utf8, 0, [255, 255, 255, 255]),
            try changed(await music("limit.mka"), after: [0x44, 0x89], 1, Self.big(0x42B0_0000_0000_0000, 8)),
        ]
        for (index, bytes) in claims.enumerated() {
            for damage in [DamagePolicy.fail, .accept] {
                let ending = try await ending(bytes, damage: damage)
                guard case .samples(let count, _) = ending else { continue }
                #expect(count < 5 * 44_100, "\(index), \(damage)")
            }
        }
    }

    @Test func `impossible channels and rates are refused`() async throws {
        let au = try await music("limit.au")
        var (channels, rate) = (au, au)
        channels.replaceSubrange(20..<24, with: Self.big(1 << 31, 4))
        rate.replaceSubrange(16..<20, with: Self.big(0x7FFF_FFFF, 4))
        let caf = try await music("limit.caf")
        let files = [
            channels, rate, try changed(caf, after: "desc".utf8, 8 + 24, Self.big(1 << 31, 4)),
            try changed(await music("limit.wav"), after: "fmt ".utf8, 4 + 2, [255, 255]),
        ]
        for (index, bytes) in files.enumerated() {
            guard case .failed = try await ending(bytes) else {
                Issue.record("file \(index) was converted")
                continue
            }
        }
    }

    @Test func `a file that claims gigabytes of tags or thousands of tracks ends soon`() async throws {
        let mp3 = try await music("limit.mp3", ["-id3v2_version", "0"])
        let m4a = try await music("limit.m4a")
        let wav = try await music("limit.wav")
        let moov = try #require(m4a.firstRange(of: Array("moov".utf8))).lowerBound - 4
        let size = Int(m4a[moov..<moov + 4].reduce(0) { $0 << 8 | UInt64($1) })
        var tracks = m4a
        tracks.insert(
            contentsOf: (0..<5000).flatMap { _ in Self.big(8, 4) + Array("trak".utf8) }, at: moov + size)
        tracks.replaceSubrange(moov..<moov + 4, with: Self.big(UInt64(size + 40_000), 4))
        let files = [
            Array("ID3".utf8) + [4, 0, 0, 127, 127, 127, 127] + mp3,
            m4a + Self.big(1, 4) + Array("udta".utf8) + Self.big(4 << 30, 8),
            try changed(m4a, after: "ilst".utf8, -8, Self.big(0xFFFF_FFF0, 4)),
            Array(wav[..<12]) + Array("LIST".utf8) + [0xF0, 255, 255, 255] + Array("INFO".utf8) + Array(wav[12...]),
            try changed(await music("limit.flac"), after: "Lavf".utf8, -4, [255, 255, 255, 255]),
            tracks,
        ]
        for (index, bytes) in files.enumerated() {
            guard case .samples(let count, _) = try await ending(bytes) else { continue }
            #expect(count <= 135_000, "\(index)")
        }
        guard case .failed = try await ending(tracks) else {
            Issue.record("5000 tracks were taken")
            return
        }
    }
}
