import Bytes
import Conversion
import Encoding
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// Files whose writer could not go back to the header, and left in it what stands for an unknown size.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct UnknownSizeTests {
    /// Half a second of two channels of 16 bits, 8000 samples a second.
    private static let sound = (0..<8000).map { Int16(truncatingIfNeeded: $0 &* 2_654_435_761 >> 8) / 2 }

    @Test(arguments: [
        0x7FFF_F000, 0x7FFF_FFFF, 0x7FFF_FFDB, 0x7FFF_FF00, 0x8000_0000, 0x8000_0024, 0xFFFF_FFFF, 0xFFFF_FFDB,
        0xFFFF_FFFC,
        0xFFFF_F000, 0x7F00_0000, 0,
    ])
    func `a WAV file of unknown size is read to its last sample`(_ size: Int) throws {
        try check(wave("RIFF", data: size))
    }

    @Test(arguments: [0, 0x7FFF_F000, 0xFFFF_FFFF], [true, false])
    func `chunks behind audio of unknown size are no audio`(_ size: Int, _ isPadded: Bool) throws {
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] { Array(name.utf8) + le(body.count, 4) + body }
        let list = chunk("LIST", Array("INFO".utf8) + chunk("INAM", Array("Song".utf8)))
        let last = chunk("iXML", Array("<x>".utf8))
        let chunks = chunk("bext", [UInt8](repeating: 0x20, count: 602)) + list + last + (isPadded ? [0] : [])
        let wave = wave("RIFF", data: size) + chunks
        try check(wave)
        #expect(try tags(wave)["title"] == ["Song"])
        let long = le(28, 4) + le(0, 8) + le(size == 0 ? 0 : -1, 8) + le(0, 8) + le(0, 4)
        let wide = self.wave("RF64", data: 0xFFFF_FFFF, before: Array("ds64".utf8) + long) + chunks
        try check(wide)
        #expect(try tags(wide)["title"] == ["Song"])
        // A name that no program writes may be audio, and so may a chunk that does not end with the file.
        for end in [chunk("hxml", [1, 2, 3, 4]), last + [0, 0, 0, 0, 0]] {
            let whole = try MemoryFile(self.wave("RIFF", data: size) + end).converted(to: Rendition(format: "wav"))
            #expect(whole.result.samples == 4000 + Int64(end.count / 4))
        }
    }

    @Test func `chunks behind audio of unknown size are no audio in AIFF`() throws {
        let rate: [UInt8] = [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
        let common = be(18, 4) + be(2, 2) + be(0, 4) + be(16, 2) + rate
        let head = Array("FORM".utf8) + be(0, 4) + Array("AIFFCOMM".utf8) + common + Array("SSND".utf8) + be(0, 12)
        let texts = Array("ANNO".utf8) + be(3, 4) + Array("abc\0NAME".utf8) + be(4, 4) + Array("Song".utf8)
        let file = head + Self.samples(isBig: true) + texts
        try check(file)
        #expect(try tags(file)["title"] == ["Song"])
        // Such a file may end anywhere: nothing traps.
        for count in head.count - 8...head.count { #expect((try? tags(Array(head.prefix(count))))?["title"] == nil) }
    }

    private func tags(_ bytes: [UInt8]) throws -> [String: [String]] {
        try Probe.of(MemoryFile(bytes), stop: CancellationFlag()).tags
    }

    @Test(arguments: [0, -1, Int.max])
    func `an RF64 file of unknown size is read to its last sample`(_ size: Int) throws {
        let long = le(28, 4) + le(0, 8) + le(size, 8) + le(0, 8) + le(0, 4)
        try check(wave("RF64", data: 0xFFFF_FFFF, before: Array("ds64".utf8) + long))
    }

    @Test(arguments: [0, 24, -1, Int.max])
    func `a Wave64 file of unknown size is read to its last sample`(_ size: Int) throws {
        let common: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
        let riff: [UInt8] = Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 4, 0xC1, 0, 0]
        let head = riff + le(size, 8) + Array("wave".utf8) + common
        let form = Array("fmt ".utf8) + common + le(40, 8) + Self.form
        try check(head + form + Array("data".utf8) + common + le(size, 8) + Self.samples(isBig: false))
    }

    @Test(arguments: ["AIFF", "AIFC"], [(0x7F00_0050, 0x7F00_0008), (0, 0), (0, 8), (0x7FFF_FFFF, 0x7FFF_FFF0)])
    func `an AIFF file of unknown size is read to its last sample`(_ kind: String, _ sizes: (Int, Int)) throws {
        let rate: [UInt8] = [0x40, 0x0B, 0xFA, 0, 0, 0, 0, 0, 0, 0]
        let coding: [UInt8] = kind == "AIFC" ? Array("NONE".utf8) + [0, 0] : []
        let frames = sizes.0 == 0 ? 0 : 0x1FC0_0000
        let common = be(18 + coding.count, 4) + be(2, 2) + be(frames, 4) + be(16, 2) + rate + coding
        let head = Array("FORM".utf8) + be(sizes.0, 4) + Array("\(kind)COMM".utf8) + common
        try check(head + Array("SSND".utf8) + be(sizes.1, 4) + be(0, 8) + Self.samples(isBig: true))
    }

    @Test(arguments: [0xFFFF_FFFF, 0x7FFF_F000, 0])
    func `a Sun audio file of unknown size is read to its last sample`(_ size: Int) throws {
        let head = Array(".snd".utf8) + be(24, 4) + be(size, 4) + be(3, 4) + be(8000, 4) + be(2, 4)
        try check(head + Self.samples(isBig: true))
    }

    @Test(arguments: [-1, Int.max])
    func `a CAF file of unknown size is read to its last sample`(_ size: Int) throws {
        let rate = be(Int(bitPattern: UInt((8000.0).bitPattern)), 8)
        let form = rate + Array("lpcm".utf8) + be(0, 4) + be(4, 4) + be(1, 4) + be(2, 4) + be(16, 4)
        let head = Array("caff".utf8) + be(0x10000, 4) + Array("desc".utf8) + be(32, 8) + form
        try check(head + Array("data".utf8) + be(size, 8) + be(0, 4) + Self.samples(isBig: true))
    }

    @Test func `a file that SoX, flac or ffmpeg writes to a pipe is read to its last sample`() async throws {
        let folder = Studio.shared.folder
        let raw = try folder.write("piped.raw", Self.samples(isBig: false))
        let shape = "-t raw -r 8000 -e signed -b 16 -c 2"
        let flac = "sox \(shape) \(raw) -t flac - | cat | ffmpeg -v error -i - -f flac - | cat | flac -s -d -c"
        let ffmpeg = "ffmpeg -v error -f s16le -ar 8000 -ac 2 -i \(raw)"
        let writers = [
            "cat \(raw) | sox \(shape) - -t wav -", "cat \(raw) | sox \(shape) - -t aiff -",
            "cat \(raw) | sox \(shape) - -t aifc -", "cat \(raw) | sox \(shape) - -t au -",
            "cat \(raw) | sox \(shape) - -b 24 -t wav -",
            "\(flac) -", "\(flac) --force-aiff-format -", "\(flac) --force-rf64-format -",
            "\(flac) --force-wave64-format -", "\(ffmpeg) -f wav -", "\(ffmpeg) -f aiff -", "\(ffmpeg) -f w64 -",
            "\(ffmpeg) -f au -", "\(ffmpeg) -f caf -", "\(ffmpeg) -rf64 always -f wav -",
        ]
        for (index, writer) in writers.enumerated() {
            let path = folder.file("piped-\(index)")
            let outcome = try await ChildProcess.run("sh", ["-c", "\(writer) 2>/dev/null | cat >\(path)"])
            #expect(outcome.succeeded)
            do { try check(fileBytes(path), "\(writer)") } catch { Issue.record("\(writer): \(error)") }
        }
    }

    @Test func `an AVI file of unknown size is read to its last frame`() async throws {
        let music = try await Studio.shared.music()
        let path = Studio.shared.folder.file("piped.avi")
        let command = "ffmpeg -v error -i \(music) -c:a pcm_s16le -f avi - | cat >\(path)"
        #expect(try await ChildProcess.run("sh", ["-c", command]).succeeded)
        let result = try MemoryFile(path: path).converted(to: Rendition(format: "wav")).result
        #expect(result.samples == 132_300)
        #expect(result.warnings.map(\.code) == ["length_unknown"])
    }

    @Test func `a size that no writer leaves for unknown still shows that bytes are missing`() throws {
        for size in [32_004, 0x1000_0000, 0x6000_0000, 0x9000_0000] {
            let error = #expect(throws: MediaError.self) {
                try MemoryFile(wave("RIFF", data: size)).converted(to: Rendition(format: "wav"))
            }
            guard case .truncated = error?.reason else {
                Issue.record("\(size): \(String(describing: error))"); continue
            }
        }
        // A data chunk that is empty, as others follow it.
        let list = Array("LIST".utf8) + le(12, 4) + Array("INFOISFT".utf8) + le(0, 4)
        let empty = wave("RIFF", data: 0).dropLast(Self.sound.count * 2) + list
        #expect(throws: MediaError.self) { try MemoryFile(Array(empty)).converted(to: Rendition(format: "wav")) }
    }

    /// Fails unless a file gives exactly the samples, whole and cut, and says that its length is unknown.
    private func check(_ bytes: [UInt8], _ name: Comment? = nil) throws {
        let file = MemoryFile(bytes)
        let expected = Self.sound.map { Float($0) / 32_768 }
        let whole = try file.converted(to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(whole.result.samples == 4000, name)
        #expect(whole.result.warnings.map(\.code) == ["length_unknown"], name)
        // Not compared by `#expect`, which would look for all differences.
        let isWhole = try whole.file.samples() == expected
        #expect(isWhole, name)
        let cut = try file.converted(
            to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(sample: 1000, rate: 8000),
            end: MediaTime(sample: 3000, rate: 8000))
        let isCut = try cut.file.samples() == Array(expected[2000..<6000])
        #expect(isCut, name)
        #expect(try Probe.of(file, stop: CancellationFlag()).duration == MediaTime(sample: 4000, rate: 8000), name)
    }

    private func wave(_ form: String, data size: Int, before: [UInt8] = []) -> [UInt8] {
        let head = Array(form.utf8) + le(size == 0 ? 0 : size + 36, 4) + Array("WAVE".utf8) + before
        let format = Array("fmt ".utf8) + le(16, 4) + Self.form
        return head + format + Array("data".utf8) + le(size, 4) + Self.samples(isBig: false)
    }

    /// The body of a format chunk.
    private static let form = le(1, 2) + le(2, 2) + le(8000, 4) + le(32_000, 4) + le(4, 2) + le(16, 2)

    private static func samples(isBig: Bool) -> [UInt8] { sound.flatMap { (isBig ? be : le)(Int($0), 2) } }
}

private func le(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

private func be(_ value: Int, _ count: Int) -> [UInt8] { le(value, count).reversed() }
