import Bytes
import Conversion
import Encoding
import FoundationEssentials
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Times and counts that MPEG-4 files declare in other units than decoded samples.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct MovieTimeTests {
    private static let tone = "aevalsrc=0.5*sin(2*PI*(300*t+200*t*t)):s="

    /// The frames of three seconds of a sweep as ffmpeg encodes them.
    private func frames(_ rate: Int) async throws -> [[UInt8]] {
        let path = try await Studio.shared.source(
            "sweep-\(rate).aac",
            ["-f", "lavfi", "-i", "\(Self.tone)\(rate):d=3", "-b:a", "64k", "-aac_pns", "0", "-aac_tns", "0"])
        return BandReplication.blocks(try fileBytes(path))
    }

    /// Everything, interleaved, that ffmpeg decodes from the packets, if no edit list hides any of it.
    private func decoded(_ movie: MovieFile) async throws -> [Float] {
        var plain = movie
        (plain.edits, plain.tag, plain.scale) = ([], nil, movie.rate)
        let path = await Studio.shared.output("m4a")
        try Data(plain.whole()).write(to: URL(filePath: path))
        return try await decode(path, as: Float.self, "f32le")
    }

    /// libav decodes two channels of it, because parametric stereo may follow.
    private func replicated(_ signaling: BandReplication.Signaling, scale: Int) async throws -> MovieFile {
        MovieFile(
            packets: try await frames(22_050).map(BandReplication.added),
            configuration: BandReplication.configuration(signaling), rate: 44_100, packetSamples: 2048, scale: scale)
    }

    @Test(arguments: [
        (BandReplication.Signaling.implicit, 22_050, false), (.implicit, 22_050, true), (.compatible, 22_050, true),
        (.explicit, 44_100, false), (.explicit, 22_050, false), (.explicit, 44_100, true), (.compatible, 90_000, false),
    ])
    func `HE-AAC keeps all of its sound whatever unit its delay is counted in`(
        _ signaling: BandReplication.Signaling, _ scale: Int, _ hasTag: Bool
    ) async throws {
        var movie = try await replicated(signaling, scale: scale)
        let whole = try await decoded(try await replicated(.explicit, scale: 44_100))
        #expect(whole.count == movie.packets.count * 4096)
        movie.edits = [(3000, 1024 * scale / 22_050)]
        if hasTag {
            // fdkaac's, in samples of the core.
            let numbers = [0, 1024, (movie.packets.count - 1) * 1024 - 66_150, 66_150]
            movie.tag = numbers.map { String($0, radix: 16, uppercase: true) }.joined(separator: " ")
        }
        let found = try MemoryFile(movie.whole()).samples()
        #expect(found.count == 264_600)
        #expect(found.elementsEqual(whole[4096..<4096 + 264_600]))
    }

    @Test(arguments: [(BandReplication.Signaling.explicit, 44_100), (.explicit, 22_050), (.implicit, 22_050)])
    func `fragments of HE-AAC keep all of their sound`(
        _ signaling: BandReplication.Signaling, _ scale: Int
    ) async throws {
        var movie = try await replicated(signaling, scale: scale)
        let whole = try await decoded(try await replicated(.explicit, scale: 44_100))
        movie.edits = [(0, 1024 * scale / 22_050)]
        let found = try MemoryFile(movie.fragmented()).samples()
        #expect(found.count == whole.count - 4096)
        #expect(found.elementsEqual(whole[4096...]))
    }

    /// Each part: milliseconds, and the second of the sound at which it begins; `nil` for silence.
    @Test(
        arguments: [
            [(500, 0), (500, 1.5)], [(500, 0), (300, nil), (500, 0.7)], [(200, 2), (200, 0.3), (200, 0.31)],
            [(3, 0.1), (5, 0.11), (400, 1)], [(500, 0.25), (250, nil)],
        ] as [[(Int, Double?)]])
    func `several edits play the parts that they name, in their order`(_ parts: [(Int, Double?)]) async throws {
        var movie = try await core(scale: 44_100)
        let whole = try await decoded(movie)
        var (expected, time): ([Float], Int) = ([], 0)
        movie.edits = parts.map { ($0.0, $0.1.map { 1024 + Int($0 * 44_100) } ?? -1) }
        for edit in movie.edits {
            let count = ((time + edit.length) * 441 + 5) / 10 - expected.count
            time += edit.length
            let part =
                edit.start < 0 ? [Float](repeating: 0, count: count)[...] : whole[edit.start..<edit.start + count]
            expected += part
        }
        let file = MemoryFile(movie.whole())
        let found = try file.samples()
        #expect(found.count == expected.count)
        #expect(found.elementsEqual(expected))
        let cut = try file.converted(
            to: Rendition(format: "wav"), start: MediaTime(parsing: "0.2")!, end: MediaTime(parsing: "0.4")!)
        #expect(cut.result.samples == 8820)
    }

    @Test func `an edit list that goes back thousands of times is refused`() async throws {
        var movie = try await core(scale: 44_100)
        movie.edits = (0..<2000).map { _ in (1, 1024) }
        let error = #expect(throws: MediaError.self) { try MemoryFile(movie.whole()).samples() }
        #expect(error?.sentence.contains("more than 64 times") == true)
    }

    @Test(arguments: [
        [0, 0, 0, 0, 0, 0, 0], [0, 20_480, 40_960, 10_000, 30_480, 50_960, 71_440], [4_294_967_000, 0, 0, 0, 0, 0, 0],
    ])
    func `fragments whose times restart are all read`(_ times: [Int]) async throws {
        let movie = try await core(scale: 44_100)
        let whole = try await decoded(movie)
        #expect(try MemoryFile(movie.fragmented(times: times)).samples() == whole)
    }

    @Test func `fragments that begin late are as long as others`() async throws {
        let movie = try await core(scale: 44_100)
        let times = (0..<7).map { 1_790_000_020 * 44_100 + $0 * 20 * 1024 }
        let (plain, late) = (MemoryFile(movie.fragmented()), MemoryFile(movie.fragmented(times: times)))
        let probes = try [plain, late].map { try Probe.of($0, stop: CancellationFlag()) }
        #expect(probes[1].duration == probes[0].duration)
        #expect(probes[1].tracks.map(\.duration) == probes[0].tracks.map(\.duration))
        let start = MediaTime(value: 1, timescale: 1)
        let cuts = try [plain, late].map {
            try $0.converted(to: Rendition(format: "wav"), start: start).file.bytes
        }
        #expect(cuts[0] == cuts[1])
    }

    @Test func `joined recordings of fragments are all read`() async throws {
        let movie = try await core(scale: 44_100)
        var (first, second) = (movie, movie)
        first.packets = Array(movie.packets.prefix(50))
        second.packets = Array(movie.packets.dropFirst(50))
        let whole = try await decoded(movie)
        #expect(try MemoryFile(first.fragmented() + second.fragmented()).samples() == whole)
    }

    private func core(scale: Int) async throws -> MovieFile {
        MovieFile(
            packets: try await frames(44_100), configuration: [0x12, 0x08], rate: 44_100, packetSamples: 1024,
            scale: scale)
    }

    @Test(arguments: [44_100, 48_000, 90_000, 1_000_000], [0, 1])
    func `an edit begins at its sample whatever the timescale is`(_ scale: Int, _ start: Int) async throws {
        var movie = try await core(scale: scale)
        let whole = try await decoded(movie)
        movie.edits = [(1500, ((1024 + start * 44_100) * scale + 22_050) / 44_100)]
        let found = try MemoryFile(movie.whole()).samples()
        let first = 1024 + start * 44_100
        #expect(found.count == 66_150)
        #expect(found.elementsEqual(whole[first..<first + 66_150]))
    }
}
