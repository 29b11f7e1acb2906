import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

/// Vorbis in Ogg whose first page counts fewer samples than its packets hold (Vorbis I, A.2).
@Suite(.failureReport, .ownThread, .timeLimit(.minutes(5))) struct VorbisStartTests {
    /// 16 s, a packet a page, so that each packet tells where it ends.
    private func packets() async throws -> OggFile {
        let tones = "0.4*sin(2*PI*440*t+3*sin(PI*t))|0.3*sin(2*PI*660*t+2*sin(2*PI*t))"
        let path = try await Studio.shared.source(
            "packets.ogg",
            ["-f", "lavfi", "-i", "aevalsrc='\(tones)':s=16000:d=16", "-c:a", "libvorbis", "-page_duration", "1"])
        return OggFile(try fileBytes(path))
    }

    @Test(arguments: [Int64(1), 77, 100])
    func `a first page that counts too few samples trims the start, as in oggdec`(trim: Int64) async throws {
        let file = try await packets()
        let whole = try MemoryFile(file.paged(headers: 3, [2, 40], trim: 0)).samples()
        let bytes = file.paged(headers: 3, [2, 40], trim: trim)
        let found = try MemoryFile(bytes).samples()
        expect(found, whole.dropFirst(2 * Int(trim)))
        let judged = try await oggdec(bytes)
        #expect(judged.count == found.count)
        #expect(Samples.largestDifference(found, judged) <= 1)
    }

    @Test func `a start is trimmed whatever the number of packets in the first page`() async throws {
        let file = try await packets()
        let whole = try MemoryFile(file.paged(headers: 3, [40], trim: 0)).samples()
        for trim in [Int64(100), 3000] {
            let found = try MemoryFile(file.paged(headers: 3, [40], trim: trim)).samples()
            expect(found, whole.dropFirst(2 * Int(trim)))
        }
    }

    @Test func `audio in the page of the headers precedes the sound`() async throws {
        let file = try await packets()
        let whole = try MemoryFile(file.paged(headers: 3, [2, 40], trim: 0)).samples()
        let trim = file.packets[4].granule
        let bytes = file.paged(headers: 5, [40], trim: trim)
        let found = try MemoryFile(bytes).samples()
        expect(found, whole.dropFirst(2 * Int(trim)))
        // oggdec drops all audio in that page, and starts anew behind it.
        let kept = 16 * 16_000 - Int(trim)
        #expect(found.count == 2 * kept)
    }

    @Test func `each link of a chain is trimmed by its own first page`() async throws {
        let file = try await packets()
        let bytes =
            file.paged(headers: 3, [2, 40], trim: 0) + file.paged(headers: 3, [2, 40], trim: 100, serial: 2)
            + file.paged(headers: 3, [2, 40], trim: 77, serial: 3)
        let whole = try MemoryFile(file.paged(headers: 3, [2, 40], trim: 0)).samples()
        let found = try MemoryFile(bytes).samples()
        expect(found, (whole + whole.dropFirst(200) + whole.dropFirst(154))[...])
        let judged = try await oggdec(bytes).count
        #expect(judged == found.count)
    }

    @Test func `positions of a later link may be any numbers`() async throws {
        let file = try await packets()
        let (link, length) = (file.paged(headers: 3, [2, 40], trim: 0), 16 * 16_000)
        // The first one makes the position of the first page the largest number.
        for move in [Int64.max - file.packets[4].granule, .max - 16_000, .min, -16 * 16_000] {
            let later = OggFile.moved(file.paged(headers: 3, [2, 40], trim: 0, serial: 2)) { _ in move }
            #expect(try MemoryFile(link + later).samples().count >= 2 * length, "\(move)")
        }
    }

    @Test func `a range counts from the first sample behind the trimmed part`() async throws {
        let file = try await packets()
        let link = file.paged(headers: 3, [2, 40], trim: 100)
        let length = try MemoryFile(link).samples().count / 2
        let chain = MemoryFile(link + file.paged(headers: 3, [2, 40], trim: 77, serial: 2))
        let whole = try chain.samples()
        for first in [5000, 14 * 16_000, length + 10, length + 200, length + 14 * 16_000] {
            let part = try chain.converted(
                to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: Int64(first), rate: 16_000),
                end: MediaTime(sample: Int64(first + 1000), rate: 16_000)
            ).file
            expect(try part.samples(), whole[(2 * first)..<(2 * first + 2000)])
        }
    }

    /// Compares samples without listing them.
    private func expect(
        _ found: [Float], _ expected: ArraySlice<Float>, _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(found.count == expected.count, sourceLocation: place)
        #expect(Samples.firstDifference(found, expected) == nil, "they differ from there on", sourceLocation: place)
    }

    /// What the reference decoder gives.
    private func oggdec(_ bytes: [UInt8]) async throws -> [Int16] {
        let source = await Studio.shared.output("ogg")
        try Data(bytes).write(to: URL(filePath: source))
        let raw = await Studio.shared.output("raw")
        let outcome = try await ChildProcess.run("oggdec", ["-Q", "-R", "-b", "16", "-o", raw, source])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    }
}
