import Bytes
import Decoding
import Encoding
import FoundationEssentials
import MediaTypes
import TestSupport
import Testing

/// Sources that are not damaged, and cannot be converted: the error says why.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RefusedSourceTests {
    private enum Reason { case unsupported, protected, corrupt, truncated }

    private func expect(_ bytes: [UInt8], _ reason: Reason, _ words: String, _ name: String) throws {
        let error = #expect(throws: MediaError.self, "\(name)") {
            try MemoryFile(bytes).converted(to: Rendition(format: "wav"))
        }
        let found: Reason? =
            switch error?.reason {
            case .unsupportedFormat: .unsupported
            case .protectedContent: .protected
            case .corruptMedia: .corrupt
            case .truncated: .truncated
            default: nil
            }
        #expect(found == reason && error?.sentence.contains(words) == true, "\(name): \(String(describing: error))")
    }

    private static let noise: [UInt8] = {
        var noise = Noise(state: 5)
        return (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &noise) }
    }()

    /// Files that consist of their first bytes and noise.
    private static let beginnings: [(name: String, bytes: [UInt8], words: String)] = [
        (
            "Sun with encoding 9", ".snd".utf8 + big(24) + big(20_000) + big(9) + big(8000) + big(1),
            "au with the codec 9"
        ),
        (
            "AIFF-C of another codec",
            "FORM".utf8 + big(20_050) + "AIFCCOMM".utf8 + big(24) + [0, 1] + big(10_000) + [0, 16]
                + [0x40, 0x0E, 0xAC, 0x44, 0, 0, 0, 0, 0, 0] + "ACE2\0\0SSND".utf8 + big(20_000) + big(0) + big(0),
            "aiff with the codec 'ACE2'"
        ),
        ("old Monkey's Audio", "MAC ".utf8 + [0x74, 0x0E, 0xD0, 7] + zeros(28), "Monkey's Audio 3.70"),
        ("a format tag without a codec", wave(0x674F) + "data".utf8 + little(20_000), "codec of the audio is 0x674f"),
        ("an experimental codec", wave(0x2048) + "data".utf8 + little(20_000), "variant of sonic"),
        (
            "old WavPack", wave(1) + "data".utf8 + little(176_400) + "wvpk".utf8 + little(20) + [3, 0],
            "before version 4"
        ),
        ("AMR-WB+", Array("#!AMR-WB+\n".utf8), "AMR-WB+"), ("OptimFROG", "OFR ".utf8 + little(15), "OptimFROG"),
        ("MIDI", "MThd".utf8 + big(6) + [0, 0, 0, 1, 0, 96] + "MTrk".utf8, "MIDI"),
        ("HEIF", big(24) + "ftypheic".utf8 + big(0) + "mif1heic".utf8, "a picture (HEIF)"),
        ("AVIF", big(24) + "ftypavif".utf8 + big(0) + "mif1avif".utf8, "a picture (AVIF)"),
        ("a ZIP archive", "PK\u{3}\u{4}".utf8 + zeros(4), "a ZIP archive"),
        ("a compressed file", [0x1F, 0x8B, 8, 0] + zeros(4), "compressed with gzip"),
    ]

    @Test(arguments: beginnings.indices) func `what the first bytes declare is named`(_ row: Int) throws {
        let (name, bytes, words) = Self.beginnings[row]
        try expect(bytes + Self.noise, .unsupported, words, name)
    }

    @Test func `samples of equal channels are no ADPCM`() throws {
        // Pairs of bytes, each twice.
        let samples = stride(from: 0, to: 20_000, by: 2).flatMap { place -> [UInt8] in
            let sample = Array(Self.noise[place..<place + 2])
            return sample + sample
        }
        try expect(samples, .unsupported, "two equal channels without a header", "samples")
        // The first two bytes of a block are repeated, and the others are not.
        let blocks = stride(from: 0, to: 9600, by: 30).flatMap { place -> [UInt8] in
            Array(Self.noise[place..<place + 2]) + Array(Self.noise[place..<place + 30])
        }
        #expect(try MemoryFile(blocks).converted(to: Rendition(format: "wav")).result.samples == 320 * 28)
    }

    @Test func `a movie without its index says so`() async throws {
        let whole = try fileBytes(try await Studio.shared.music(as: "indexed.m4a", ["-t", "1", "-c:a", "aac"]))
        let data = try #require(whole.firstRange(of: Array("mdat".utf8))).lowerBound - 4
        let index = try #require(whole.firstRange(of: Array("moov".utf8))).lowerBound - 4
        for size in [0, index - data] {
            var bytes = Array(whole[..<index])
            bytes.replaceSubrange(data..<data + 4, with: big(size))
            try expect(bytes, .truncated, "its index (`moov`) is missing", "\(size)")
        }
        let arguments = ["-t", "1", "-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov+default_base_moof"]
        let live = try fileBytes(try await Studio.shared.music(as: "fragments.m4a", arguments))
        let fragment = try #require(live.firstRange(of: Array("moof".utf8))).lowerBound - 4
        let type = big(16) + Array("stypmsdh".utf8) + big(0)
        try expect(
            type + Array(live[fragment...]), .truncated, "the header (`moov`) of its fragments is missing", "fragments")
    }

    @Test(
        arguments: [
            (0x2D, [], "MPEG-H 3D Audio"), (0x06, [0x7F, 2, 0x15, 0], "AC-4"),
            (0x06, [5, 4, 0x41, 0x43, 0x2D, 0x34], "AC-4"),
        ] as [(UInt8, [UInt8], String)])
    func `a codec in a transport stream that libav does not know is named`(
        _ type: UInt8, _ descriptors: [UInt8], _ words: String
    ) throws {
        let stream: [UInt8] = [type, 0xE1, 0, 0xF0, UInt8(descriptors.count)] + descriptors
        let head: [UInt8] = [0, 1, 0xC1, 0, 0, 0xE1, 0, 0xF0, 0]
        let map = Self.section([2], head + stream)
        let programs = Self.section([0], [0, 1, 0xC1, 0, 0, 0, 1, 0xF0, 0])
        var bytes: [UInt8] = []
        for round in 0..<20 {
            bytes += Self.packet(0, round, starts: true, [0] + programs)
            bytes += Self.packet(0x1000, round, starts: true, [0] + map)
            for number in 0..<8 {
                let header: [UInt8] = number == 0 ? [0, 0, 1, 0xBD, 0, 0, 0x80, 0, 0] : []
                let body = header + Self.noise[(number * 180)..<(number * 180 + 184 - header.count)]
                bytes += Self.packet(0x100, 8 * round + number, starts: number == 0, body)
            }
        }
        try expect(bytes, .unsupported, "the codec of the audio is \(words), which is not supported", words)
    }

    /// A transport packet (ISO 13818-1, 2.4.3.2).
    private static func packet(_ identifier: Int, _ counter: Int, starts: Bool, _ body: [UInt8]) -> [UInt8] {
        let flags: UInt8 = starts ? 0x40 : 0
        let head = [0x47, UInt8(identifier >> 8) | flags, UInt8(identifier & 0xFF), 0x10 | UInt8(counter & 15)]
        return head + body + [UInt8](repeating: 0xFF, count: 184 - body.count)
    }

    /// A table with its length and checksum (ISO 13818-1, 2.4.4).
    private static func section(_ table: [UInt8], _ body: [UInt8]) -> [UInt8] {
        let bytes = table + [0xB0, UInt8(body.count + 4)] + body
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte) << 24
            for _ in 0..<8 { sum = sum >> 31 == 1 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
        }
        return bytes + big(Int(sum))
    }

    @Test func `compression by Matroska that libav does not undo is named`() throws {
        func compressed(_ algorithm: UInt8) -> [UInt8] {
            Self.element([0x62, 0x40], Self.element([0x50, 0x34], Self.element([0x42, 0x54], [algorithm])))
        }
        try expect(
            Self.matroska(compressed(9)), .unsupported, "compressed in its container with the algorithm 9", "unknown")
        let twice = compressed(3) + Self.element([0x62, 0x40], Self.element([0x50, 0x31], [1]))
        try expect(Self.matroska(twice), .unsupported, "with several encodings", "two encodings")
        // Nothing is left out of the headers, so the bytes are the samples.
        let plain = try MemoryFile(Self.matroska(compressed(3))).converted(to: Rendition(format: "wav"))
        #expect(plain.result.samples == 4000)
        let unnamed = Self.element([0x62, 0x40], Self.element([0x50, 0x33], [1]) + Self.element([0x50, 0x35], []))
        try expect(Self.matroska(unnamed), .protected, "encrypted", "without a key")
    }

    @Test(arguments: [
        ("{\"error\":\"not found\"}", "JSON"), ("[{\"id\":1},{\"id\":2}]", "JSON"), ("1,2,3\n4,5,6\n", "text"),
        ("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "text"), ("Grüße", "text"),
    ])
    func `text is named`(_ text: String, _ words: String) throws {
        try expect(Array(text.utf8), .unsupported, "the source is \(words), not audio", text)
    }

    @Test(arguments: [
        ("mka", ["-c:a", "pcm_s16le"], "A_PCM/INT/LIT", "A_REAL/DNET\0\0", "'A_REAL/DNET'"),
        ("mov", ["-c:a", "pcm_s16le"], "sowt", "xQDM", "'xQDM'"),
        ("avi", ["-c:a", "ac3"], "strf\u{12}\0\0\0\0 ", "strf\u{12}\0\0\0!%", "0x2521"),
        ("caf", ["-c:a", "pcm_s16be"], "lpcm", "aach", "'aach'"),
    ])
    func `a codec that libav does not know is named`(
        _ kind: String, _ arguments: [String], _ codec: String, _ other: String, _ words: String
    ) async throws {
        var bytes = try fileBytes(try await Studio.shared.music(as: "other." + kind, ["-t", "1"] + arguments))
        let place = try #require(bytes.firstRange(of: Array(codec.utf8)))
        bytes.replaceSubrange(place, with: Array(other.utf8))
        try expect(bytes, .unsupported, "the codec of the audio is \(words)", kind)
    }

    @Test func `Ogg without a stream that libav knows is not supported`() async throws {
        let bytes = try fileBytes(try await Studio.shared.music(as: "other.oga", ["-t", "1", "-c:a", "libopus"]))
        var file = OggFile(bytes)
        file.edit(0) { $0.replaceSubrange(0..<8, with: Array("PCM     ".utf8)) }
        try expect(file.paged(headers: 2, [20], trim: 0), .unsupported, "ogg with the codec 'PCM'", "PCM in Ogg")
    }

    @Test func `a whole file of which nothing can be decoded is not called truncated`() async throws {
        let arguments = ["-t", "1", "-c:a", "libmp3lame", "-movflags", "+faststart"]
        var bytes = try fileBytes(try await Studio.shared.music(as: "unreadable.mp4", arguments))
        let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
        bytes.replaceSubrange(data..., with: Self.noise.prefix(bytes.count - data))
        try expect(bytes, .corrupt, "no audio could be decoded from the source (mp3)", "noise")
    }

    @Test func `encryption is found in the headers of MP4, ASF and Matroska`() async throws {
        var movie = try fileBytes(try await Studio.shared.music(as: "locked.mp4", ["-t", "1", "-c:a", "aac"]))
        // OMA and ISMA encrypt without a box that libav looks for.
        let scheme = Self.box(
            "sinf", Self.box("frma", Array("mp4a".utf8)) + Self.box("schm", big(0) + "iAEC".utf8 + big(1)))
        var end = 0
        for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "mp4a"] {
            let place = try #require(movie.firstRange(of: Array(name.utf8))).lowerBound - 4
            let size = movie[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            end = place + size
            movie.replaceSubrange(place..<place + 4, with: big(size + scheme.count))
            if name == "mp4a" { movie.replaceSubrange(place + 4..<place + 8, with: Array("enca".utf8)) }
        }
        movie.insert(contentsOf: scheme, at: end)
        try expect(movie, .protected, "encrypted", "MP4")

        // The Content Encryption Object (ASF specification, 3.14).
        var windows = try fileBytes(try await Studio.shared.music(as: "locked.wma", ["-t", "1"]))
        let guide: [UInt8] = [
            0xFB, 0xB3, 0x11, 0x22, 0x23, 0xBD, 0xD2, 0x11, 0xB4, 0xB7, 0, 0xA0, 0xC9, 0x55, 0xFC, 0x6E,
        ]
        let fields =
            little(4) + zeros(4) + little(4) + "DRM\0".utf8 + little(4) + "KEY\0".utf8 + little(4) + "URL\0".utf8
        let object = guide + little(24 + fields.count) + zeros(4) + fields
        let size = windows[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }
        windows.replaceSubrange(16..<20, with: little(size + object.count))
        windows[24] += 1
        windows.insert(contentsOf: object, at: 30)
        try expect(windows, .protected, "encrypted", "ASF")

        let key = Self.element(
            [0x50, 0x35], Self.element([0x47, 0xE1], [5]) + Self.element([0x47, 0xE2], [1, 2, 3, 4]))
        let encoding = Self.element([0x62, 0x40], Self.element([0x50, 0x33], [1]) + key)
        try expect(Self.matroska(encoding), .protected, "encrypted", "Matroska")
    }

    /// PCM in a block whose track has these content encodings (RFC 9559, section 5.1.4.1.31).
    private static func matroska(_ encodings: [UInt8]) -> [UInt8] {
        let sound = element([0xB5], [0x45, 0x7A, 0, 0]) + element([0x9F], [1]) + element([0x62, 0x64], [16])
        let track =
            element([0xD7], [1]) + element([0x73, 0xC5], [1]) + element([0x83], [2])
            + element([0x86], Array("A_PCM/INT/LIT".utf8)) + element([0xE1], sound)
            + element([0x6D, 0x80], encodings)
        let cluster = element([0xE7], [0]) + element([0xA3], [0x81, 0, 0, 0x80] + noise.prefix(8000))
        let segment =
            element([0x16, 0x54, 0xAE, 0x6B], element([0xAE], track)) + element([0x1F, 0x43, 0xB6, 0x75], cluster)
        return element([0x1A, 0x45, 0xDF, 0xA3], element([0x42, 0x82], Array("matroska".utf8)))
            + element([0x18, 0x53, 0x80, 0x67], segment)
    }

    private static func element(_ id: [UInt8], _ body: [UInt8]) -> [UInt8] {
        id + [0x10 | UInt8(body.count >> 24), UInt8(body.count >> 16 & 255), UInt8(body.count >> 8 & 255)]
            + [UInt8(body.count & 255)] + body
    }

    /// The start of a WAV file with 16 bits and one channel at 8 kHz.
    private static func wave(_ tag: Int) -> [UInt8] {
        "RIFF".utf8 + little(20_036) + "WAVEfmt ".utf8 + little(16) + little(tag | 1 << 16) + little(8000)
            + little(16_000) + little(2 | 16 << 16)
    }

    private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] { big(8 + body.count) + name.utf8 + body }
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

private func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

private func big(_ value: Int) -> [UInt8] { little(value).reversed() }
