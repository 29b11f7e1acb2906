import Bytes
import Conversion
import Decoding
import Demuxing
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// What becomes of sources of which a part is lost: how long the result is, where its sound lies, and what is said of it.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct DamageTests {
    private static let kinds: [(String, [String])] = [
        ("l.flac", []), ("l.oga", ["-c:a", "flac"]), ("l.ogg", ["-c:a", "libvorbis"]), ("l.mp3", []),
        ("bare-l.mp3", ["-write_xing", "0"]), ("l.mp2", []), ("l.aac", []), ("l.m4a", []), ("l.ac3", []), ("l.tta", []),
        ("l.wv", []), ("l.mka", ["-c:a", "flac", "-cluster_time_limit", "500"]), ("l.ts", ["-c:a", "aac"]),
        ("l.flv", ["-c:a", "libmp3lame"]), ("l.wma", []), ("l.avi", ["-c:a", "libmp3lame"]),
    ]

    @Test(arguments: kinds)
    func `lost sound becomes silence, and what follows keeps its place`(
        _ name: String, _ arguments: [String]
    ) async throws {
        let source = try await Studio.shared.music(seconds: 6, as: name, arguments)
        let whole = try await convert(source, Rendition(format: "wav"))
        #expect(whole.result.damage == Damage(seconds: 0, events: 0))
        #expect(!whole.result.warnings.contains { $0.code == "damaged" })
        let bytes = garbled(try Data(contentsOf: URL(filePath: source)), at: 0.45, count: name == "l.wma" ? 6400 : 1500)
        let path = try Studio.shared.folder.write("lost-\(name)", bytes)
        let broken = try await convert(path, Rendition(format: "wav"), SourceSettings(damage: .accept))
        #expect(broken.result.samples == whole.result.samples)
        #expect(broken.result.damage.events > 0 && broken.result.damage.seconds > 0)
        #expect(broken.result.damage.seconds < 3)
        #expect(broken.result.warnings.contains { $0.code == "damaged" })
        let samples = try await decode([broken.path, whole.path], as: Int16.self, "s16le")
        // From 5 s on, long after the damage.
        let lag = self.lag(samples[0], against: samples[1], from: 220_500, count: 2048)
        #expect(lag == 0, "\(name): \(lag)")
        let delay = name.hasSuffix("aac") || name.hasSuffix("ts") ? 1024 : 0
        #expect(likeness(samples[0], from: 220_500, count: 2048, delay: delay) > 0.98 || Self.isDelayed(name))
    }

    /// Formats that do not tell the encoder's delay, and so lie a little later than the signal.
    private static func isDelayed(_ name: String) -> Bool {
        ["aac", "ts", "ac3", "mp2", "flv", "wma", "avi"].contains { name.hasSuffix($0) } || name.hasPrefix("bare")
    }

    @Test func `frames of MP3 that are larger than a block of AVI make no gap`() async throws {
        let source = try await Studio.shared.music(
            seconds: 6, as: "large.avi", ["-ar", "32000", "-c:a", "libmp3lame", "-b:a", "320k"])
        let result = try await convert(source, Rendition(format: "wav")).result
        #expect(result.damage == Damage(seconds: 0, events: 0))
    }

    @Test(arguments: [("#!AMR\n", 160, [(7, 31), (8, 5), (0, 12)]), ("#!AMR-WB\n", 320, [(2, 32), (9, 5), (8, 60)])])
    func `every frame of AMR in a sample of MP4 is decoded`(
        _ mark: String, _ samples: Int, _ types: [(type: UInt8, size: Int)]
    ) async throws {
        var noise = Noise(state: 1)
        let frames = (0..<100).map { number -> [UInt8] in
            let (type, size) = types[number / 7 % 3]
            return [type << 3 | 4] + (0..<size).map { _ in UInt8.random(in: 0...255, using: &noise) }
        }
        let plain = Array(mark.utf8) + frames.joined()
        let path = try Studio.shared.folder.write("single-\(samples).amr", plain)
        var movie = try fileBytes(try await Studio.shared.source("single-\(samples).3gp", ["-i", path, "-c", "copy"]))
        // Ten frames make a sample: tables of constant durations, one chunk, and of sizes (ISO 14496-12, 8.6 and 8.7).
        func number(_ value: Int) -> [UInt8] { bigEndian(UInt64(value), 4) }
        func place(_ name: String) throws -> Int { try #require(movie.firstRange(of: Array(name.utf8))).upperBound }
        let times = try place("stts")
        try #require(Array(movie[times + 4..<times + 16]) == [1, 100, samples].flatMap(number))
        movie.replaceSubrange(times + 8..<times + 16, with: [10, 10 * samples].flatMap(number))
        let chunks = try place("stsc")
        try #require(Array(movie[chunks + 4..<chunks + 16]) == [1, 1, 100].flatMap(number))
        movie.replaceSubrange(chunks + 12..<chunks + 16, with: number(10))
        let sizes = try place("stsz")
        let lengths = stride(from: 0, to: 100, by: 10).flatMap { number(frames[$0..<$0 + 10].joined().count) }
        movie.replaceSubrange(sizes + 4..<sizes + 52, with: number(0) + number(10) + lengths)
        let (whole, expected) = (MemoryFile(movie), try MemoryFile(plain).samples())
        #expect(expected.count == 100 * samples)
        let isEqual = try whole.samples() == expected
        #expect(isEqual)
        let cut = try whole.converted(
            to: Rendition(format: "wav", sampleFormat: .f32), start: MediaTime(value: 1, timescale: 1),
            end: MediaTime(value: 3, timescale: 2)
        ).file.samples()
        let isSlice = cut == Array(expected[50 * samples..<75 * samples])
        #expect(isSlice)
    }

    /// Frames of comfort noise and without data, as telephones write them while nobody speaks (RFC 4867, section 5.3).
    @Test(arguments: [
        ("#!AMR\n", 160, 7, 31, [8, 15]), ("#!AMR-WB\n", 320, 2, 32, [9, 15]), ("#!AMR-WB\n", 320, 2, 32, [14]),
    ])
    func `pauses of AMR are silence, and no damage`(
        _ mark: String, _ samples: Int, _ mode: UInt8, _ size: Int, _ pauses: [UInt8]
    ) throws {
        var noise = Noise(state: 1)
        func speech() -> [UInt8] {
            [mode << 3 | 4] + (0..<size).map { _ in UInt8.random(in: 0...255, using: &noise) }
        }
        let pause = pauses.flatMap { type -> [UInt8] in
            [type << 3 | 4] + [UInt8](repeating: 0x12, count: type < 14 ? 5 : 0)
        }
        let blocks = [
            pause, (0..<20).flatMap { _ in speech() }, pause + pause, (0..<10).flatMap { _ in speech() }, pause,
        ]
        let found = try MemoryFile(Array(mark.utf8) + blocks.joined()).converted(
            to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(found.result.samples == Int64(samples * (30 + 4 * pauses.count)))
        #expect(found.result.warnings.allSatisfy { $0.code != "damaged" } && found.result.damage.events == 0)
        let sound = try found.file.samples()
        let start = samples * pauses.count
        #expect(sound[..<start].allSatisfy { $0 == 0 })
        #expect(sound[(start + samples * 20)..<(3 * start + samples * 20)].allSatisfy { $0 == 0 })
        #expect(sound[start..<(start + samples * 20)].contains { $0 != 0 })
    }

    @Test(arguments: [("opus", "libopus", 48_000), ("oga", "flac", 16_000), ("ogg", "libvorbis", 16_000)])
    func `the first page of sound that Ogg lacks is damage, not a late start`(
        _ container: String, _ codec: String, _ rate: Int
    ) async throws {
        let tone = "aevalsrc='0.3*sin(2*PI*(300*t+20*t*t))':s=\(rate):d=8"
        let path = try await Studio.shared.source(
            "first-page.\(container)", ["-f", "lavfi", "-i", tone, "-c:a", codec])
        let bytes = try fileBytes(path)
        // Pages with a position have sound.
        let pages = bytes.indices.filter { place in
            bytes[place...].starts(with: Array("OggS".utf8))
                && bytes[(place + 6)..<(place + 14)].contains { $0 != 0 }
        }
        let floats = Rendition(format: "wav", sampleFormat: .f32)
        for place in [pages[1] - 10, pages[0]] {
            var damaged = bytes
            damaged[place] ^= 0xFF
            let broken = await Studio.shared.output(container)
            try Data(damaged).write(to: URL(filePath: broken))
            let made = try await convert(broken, floats, SourceSettings(damage: .accept))
            let lost = Int((made.result.damage.seconds * Double(rate)).rounded())
            #expect(made.result.damage.events == 1 && lost > rate / 2)
            #expect(made.result.samples == Int64(8 * rate))
            let samples = try await decode(made.path, as: Float.self, "f32le")
            #expect(samples[..<lost].allSatisfy { $0 == 0 } && samples[lost...].contains { abs($0) > 0.2 })
            await #expect(throws: MediaError.self) {
                try await convert(broken, floats, SourceSettings(damage: .fail))
            }
            // A cut after the gap is that of the whole.
            let range = TimeRange(start: MediaTime(sample: Int64(6 * rate), rate: rate), end: nil)
            let cut = try await convert(broken, floats, SourceSettings(range: range, damage: .accept))
            #expect(try await decode(cut.path, as: Float.self, "f32le") == Array(samples[(6 * rate)...]))
            // A copy would lose it without a word.
            let format = Rendition(format: container == "oga" ? "flac" : container)
            let copied = try await convert(broken, format, SourceSettings(damage: .accept))
            #expect(!copied.result.copied && copied.result.damage.events == 1)
        }
    }

    @Test(arguments: [
        ("mka", "flac", 256), ("mka", "libvorbis", 256), ("webm", "libopus", 256), ("flv", "libmp3lame", 256),
        ("nut", "libvorbis", 256), ("wma", "wmav2", 3 * 2048), ("ts", "aac", 6 * 1024), ("m2ts", "ac3", 6 * 1536),
        ("mpg", "mp2", 6 * 1152),
    ])
    func `the first units that a container lacks are damage, not a late start`(
        _ container: String, _ codec: String, _ tolerance: Int
    ) async throws {
        // NUT can be read again after 16 s.
        let tone = "aevalsrc='0.3*sin(2*PI*(300*t+20*t*t))':s=48000:d=\(container == "nut" ? 20 : 8)"
        let path = try await Studio.shared.source(
            "first-unit-\(codec).\(container)", ["-f", "lavfi", "-i", tone, "-c:a", codec])
        let whole = try await decode(path, as: Float.self, "f32le")
        let first = try #require(Int(try await ffprobe(path, "packet=pos")))
        let floats = Rendition(format: "wav", sampleFormat: .f32)
        // From the unit's header on, and from its body on. In NUT, the offset is always that of a body.
        for place in container == "nut" ? [first - 3] : [first - 3, first] {
            var damaged = try fileBytes(path)
            for offset in place..<(first + 4000) { damaged[offset] = 0 }
            let broken = await Studio.shared.output(container)
            try Data(damaged).write(to: URL(filePath: broken))
            let made = try await convert(broken, floats, SourceSettings(damage: .accept))
            let samples = try await decode(made.path, as: Float.self, "f32le")
            #expect(made.result.damage.events == 1)
            #expect(abs(samples.count - whole.count) <= tolerance)
            let lost = Int((made.result.damage.seconds * 48_000).rounded())
            #expect(lost > 1000 && samples[..<lost].allSatisfy { $0 == 0 })
            #expect(samples[lost...].contains { abs($0) > 0.2 })
            await #expect(throws: MediaError.self) { try await convert(broken, floats, SourceSettings(damage: .fail)) }
            // A copy would lose it without a word.
            let copied = try await convert(broken, Rendition(format: "mka"), SourceSettings(damage: .accept))
            #expect(!copied.result.copied && copied.result.damage.events == 1)
        }
    }

    /// The first bytes of a film are zeros: its sound is missing, too, if it began with the pictures.
    @Test(arguments: [("mkv", 0.0, 1), ("flv", 0.0, 1), ("mkv", 3.0, 0), ("flv", 3.0, 0)])
    func `the start that a film lacks is damage of its sound only if that began there`(
        _ container: String, _ late: Double, _ events: Int
    ) async throws {
        let path = try await Studio.shared.source(
            "film-\(late).\(container)",
            [
                "-f", "lavfi", "-i", "testsrc=s=320x240:r=25:d=8", "-itsoffset", String(late), "-f", "lavfi", "-i",
                "sine=500:r=44100:d=\(8 - late)", "-c:v", "flv1", "-g", "5", "-b:v", "400k", "-c:a", "libmp3lame",
                "-cluster_time_limit", "500",
            ].filter { container == "mkv" || !["-cluster_time_limit", "500"].contains($0) })
        let whole = try await convert(path, Rendition(format: "wav")).result
        var bytes = try fileBytes(path)
        // Behind the headers.
        let head = try #require(bytes[13...].firstRange(of: container == "mkv" ? [0x1F, 0x43, 0xB6, 0x75] : [9, 0]))
            .lowerBound
        for place in head..<(head + 20_000) { bytes[place] = 0 }
        let broken = await Studio.shared.output(container)
        try Data(bytes).write(to: URL(filePath: broken))
        let made = try await convert(broken, Rendition(format: "wav"), SourceSettings(damage: .accept)).result
        #expect(whole.damage.events == 0 && made.damage.events == events)
        #expect(abs(made.samples - whole.samples) < 4410, "\(made.samples) of \(whole.samples)")
    }

    @Test func `a late start behind an element that nobody knows is no damage`() async throws {
        let path = try await Studio.shared.source(
            "late-live.mka",
            [
                "-f", "lavfi", "-i", "sine=500:d=4", "-c:a", "flac", "-output_ts_offset", "2", "-live", "1", "-f",
                "matroska",
            ])
        var bytes = try fileBytes(path)
        let cluster = try #require(bytes.firstRange(of: [0x1F, 0x43, 0xB6, 0x75])).lowerBound
        bytes.insert(contentsOf: [0x5F, 0xFE, 0x47, 0xD0] + Array(repeating: 7, count: 2000), at: cluster)
        let result = try MemoryFile(bytes).converted(to: Rendition(format: "wav")).result
        #expect(result.damage.events == 0 && result.warnings.isEmpty)
    }

    @Test(arguments: [UInt64.max, 1 << 63 | 1, 1 << 62, 29, 0] as [UInt64])
    func `a header of ASF may declare any size`(_ size: UInt64) async throws {
        let path = try await Studio.shared.source(
            "sized.wma", ["-f", "lavfi", "-i", "sine=500:d=4", "-c:a", "wmav2"])
        var bytes = try fileBytes(path)
        bytes.replaceSubrange(16..<24, with: (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) })
        _ = try? MemoryFile(bytes).converted(to: Rendition(format: "wav"))
    }

    @Test func `the first packets that a transport stream with parity lacks are damage`() async throws {
        let path = try await Studio.shared.source("parity.ts", ["-f", "lavfi", "-i", "sine=500:d=8", "-c:a", "aac"])
        let packets = try fileBytes(path)
        var bytes = stride(from: 0, to: packets.count, by: 188).flatMap {
            packets[$0..<($0 + 188)] + Array(repeating: 0xFF, count: 16)
        }
        #expect(try MemoryFile(bytes).converted(to: Rendition(format: "wav")).result.damage.events == 0)
        for place in (3 * 204)..<(30 * 204) { bytes[place] = 0 }
        let broken = await Studio.shared.output("ts")
        try Data(bytes).write(to: URL(filePath: broken))
        let made = try await convert(broken, Rendition(format: "wav"), SourceSettings(damage: .accept)).result
        #expect(made.damage.events == 1 && abs(made.samples - 8 * 44_100) < 8192)
    }

    @Test func `a link of FLAC with a damaged header loses no other link`() async throws {
        let link = try fileBytes(
            try await Studio.shared.source("plain-link.oga", ["-f", "lavfi", "-i", "sine=500:d=2", "-c:a", "flac"]))
        var bytes = link + link
        // The smallest block of STREAMINFO.
        let mark = try #require(bytes[link.count...].firstRange(of: Array("fLaC".utf8))).upperBound
        (bytes[mark + 4], bytes[mark + 5], bytes[mark + 6], bytes[mark + 7]) = (0, 1, 0, 1)
        let made = try MemoryFile(bytes + link).converted(to: Rendition(format: "wav")).result
        #expect(made.samples >= 4 * 44_100)
    }

    @Test func `a single lost frame is counted to the sample and accepted`() async throws {
        let source = try await Studio.shared.music(seconds: 6, as: "short-frames.flac", ["-frame_size", "1024"])
        var bytes = try Data(contentsOf: URL(filePath: source))
        bytes[bytes.count / 2] ^= 0x10
        let path = try Studio.shared.folder.write("flipped.flac", bytes)
        let result = try await convert(path, Rendition(format: "wav")).result
        #expect(result.samples == 264_600)
        #expect(result.damage == Damage(seconds: 1024.0 / 44_100, events: 1))
        #expect(result.warnings.map(\.code) == ["damaged"])
    }

    @Test(arguments: [
        ("f.flac", ["-c:a", "flac"]), ("f.ogg", ["-c:a", "libvorbis"]), ("f.opus", []), ("f.tta", []), ("f.wv", []),
        ("f.ac3", []), ("f.oga", ["-c:a", "flac"]),
    ])
    func `a flipped byte is reported if the format has checksums`(_ name: String, _ arguments: [String]) async throws {
        let source = try await Studio.shared.music(seconds: 6, as: name, arguments)
        let whole = try await convert(source, Rendition(format: "wav")).result.samples
        for percent in [35, 50, 75] {
            var bytes = try Data(contentsOf: URL(filePath: source))
            bytes[bytes.count * percent / 100] ^= 0x04
            let path = try Studio.shared.folder.write("flip-\(percent)-\(name)", bytes)
            let result = try await convert(path, Rendition(format: "wav"), SourceSettings(damage: .accept)).result
            #expect(result.damage.events > 0, "\(name) at \(percent) %")
            #expect(result.samples == whole, "\(name) at \(percent) %")
        }
    }

    @Test func `a few bytes between frames of ADTS are no damage`() async throws {
        let source = try await Studio.shared.music(seconds: 6, as: "dirty.aac", ["-c:a", "aac", "-b:a", "128k"])
        let whole = try await convert(source, Rendition(format: "wav"))
        var bytes = try fileBytes(source)
        var place = 0
        for _ in 0..<40 {
            place += try #require(bytes[place...].withUnsafeBufferPointer { FrameHeader.adtsLength($0) })
        }
        bytes.insert(contentsOf: [0x55, 0x55, 0x55], at: place)
        let path = try Studio.shared.folder.write("dirty-frames.aac", bytes)
        let made = try await convert(path, Rendition(format: "wav"))
        #expect(try fileBytes(made.path) == fileBytes(whole.path))
        #expect(made.result.damage.events == 0, "\(made.result.damage)")
    }

    @Test func `a frame of ADTS that libav skips becomes silence`() async throws {
        let source = try await Studio.shared.music(
            seconds: 6, as: "skipped.aac", ["-c:a", "aac", "-aac_pns", "0", "-b:a", "128k"])
        let whole = try await convert(source, Rendition(format: "wav")).result
        var bytes = try fileBytes(source)
        var starts = [0]
        while let length = bytes[starts.last!...].withUnsafeBufferPointer({ FrameHeader.adtsLength($0) }) {
            starts.append(starts.last! + length)
        }
        // Bytes in which libav finds no header.
        for number in [40, 200] { for place in starts[number]..<starts[number + 1] { bytes[place] = 0x55 } }
        let path = try Studio.shared.folder.write("skipped-frames.aac", bytes)
        let result = try await convert(path, Rendition(format: "wav")).result
        #expect(result.samples == whole.samples)
        #expect(result.damage == Damage(seconds: 2048.0 / 44_100, events: 2), "\(result.damage)")
        #expect(result.warnings.contains { $0.code == "damaged" })
    }

    @Test func `more than a hundredth lost fails, with the amount and the position`() async throws {
        let source = try await Studio.shared.music(seconds: 6, as: "much.mp3")
        let bytes = garbled(try Data(contentsOf: URL(filePath: source)), at: 0.5, count: 4096)
        let refused = await failure(try Studio.shared.folder.write("much-lost.mp3", bytes))
        guard case .corruptMedia = refused?.reason else { Issue.record("\(String(describing: refused))"); return }
        let sentence = refused?.sentence ?? ""
        #expect(sentence.contains("first at 2.9") || sentence.contains("first at 3."), "\(sentence)")
        #expect(sentence.contains("accept"))
    }

    @Test func `the silence that a header promises is judged before any of it is written`() async throws {
        var bytes = try fileBytes(try await Studio.shared.music(seconds: 6, as: "promising.mp3"))
        let mark = try #require(bytes.firstRange(of: Array("Info".utf8)) ?? bytes.firstRange(of: Array("Xing".utf8)))
        // Behind the flags stands the count of frames, of which a frame of the least size could be one.
        let frames = bytes.count / 24
        for index in 0..<4 {
            bytes[mark.upperBound + 4 + index] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * index))
        }
        let source = MemoryFile([UInt8](garbled(Data(bytes), at: 0.5, count: 700)))
        for policy in [DamagePolicy.fail, .accept] {
            let plan = ConversionPlan(source: SourceSettings(damage: policy), renditions: [Rendition(format: "wav")])
            let file = MemoryFile()
            let result = Result {
                try Converter.run(
                    source: source, stores: OneStore(file), plan: plan, stop: CancellationFlag(), progress: { _ in })[0]
                    .get()
            }
            // Six seconds, and not the hundred that the header tells, by which a gap is measured as well.
            #expect(file.bytes.count < 2_400_000, "\(file.bytes.count) bytes")
            switch (policy, result) {
            case (.accept, .success(let result)):
                #expect((260_000..<400_000).contains(result.samples))
                #expect(result.warnings.contains { $0.code == "source_truncated" }, "\(result.warnings)")
            case (.fail, .failure(let error as MediaError)):
                guard case .corruptMedia = error.reason else { Issue.record("\(error)"); continue }
                #expect(error.sentence.contains("are lost"), "\(error.sentence)")
            default: Issue.record("\(policy): \(result)")
            }
        }
    }

    @Test(
        arguments: [
            (231, 264_600...264_600), (80, 262_000...273_000), (271, 262_000...273_000), (1400, 262_000...273_000),
        ] as [(Int, ClosedRange<Int64>)])
    func `a count of frames is trusted only as far as the lost bytes could hold them`(
        _ frames: Int, _ lengths: ClosedRange<Int64>
    ) async throws {
        var bytes = try fileBytes(try await Studio.shared.music(seconds: 6, as: "counting.mp3", ["-q:a", "6"]))
        let mark = try #require(bytes.firstRange(of: Array("Xing".utf8)))
        #expect(
            bytes[mark.upperBound + 4..<mark.upperBound + 8].reduce(0) { (sum: Int, byte) in sum << 8 | Int(byte) }
                == 231)
        for index in 0..<4 {
            bytes[mark.upperBound + 4 + index] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * index))
        }
        let path = try Studio.shared.folder.write("counting-\(frames).mp3", garbled(Data(bytes), at: 0.5, count: 700))
        let result = try await convert(path, Rendition(format: "wav"), SourceSettings(damage: .accept)).result
        #expect(lengths.contains(Int64(result.samples)), "\(result.samples)")
        #expect(result.damage.seconds < 0.3, "\(result.damage)")
    }

    @Test(arguments: [("t.wav", []), ("t.flac", []), ("t.mp3", []), ("t.ogg", ["-c:a", "libvorbis"]), ("t.tta", [])])
    func `a truncated source is converted as far as it goes if damage is accepted`(
        _ name: String, _ arguments: [String]
    ) async throws {
        let source = try await Studio.shared.music(seconds: 6, as: name, arguments)
        let bytes = try Data(contentsOf: URL(filePath: source))
        for percent in [60, 99] {
            let path = try Studio.shared.folder.write(
                "short-\(percent)-\(name)", bytes.prefix(bytes.count * percent / 100))
            let refused = await failure(path)
            guard case .truncated = refused?.reason else {
                Issue.record("\(name): \(String(describing: refused))"); return
            }
            let result = try await convert(path, Rendition(format: "wav"), SourceSettings(damage: .accept)).result
            #expect(result.warnings.contains { $0.code == "source_truncated" }, "\(name): \(result.warnings)")
            #expect(
                result.samples < 264_600 && result.samples > 264_600 * (percent - 25) / 100,
                "\(name): \(result.samples)")
        }
    }

    @Test func `a track is selected by its number and by its language`() async throws {
        let source = try await Studio.shared.source(
            "tracks.mka",
            [
                "-f", "lavfi", "-i", "sine=f=440:d=1:r=44100", "-f", "lavfi", "-i", "sine=f=880:d=1:r=48000", "-map",
                "0",
                "-map", "1", "-c:a", "flac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=jpn",
            ])
        for (choice, rate) in [
            (TrackChoice.number(1), 44_100), (.number(2), 48_000), (.language("jpn"), 48_000),
            (.language("ENG"), 44_100),
        ] {
            let result = try await convert(source, Rendition(format: "wav"), SourceSettings(track: choice)).result
            #expect(result.sampleRate == rate)
        }
        for choice in [TrackChoice.number(3), .language("fra")] {
            do {
                _ = try await convert(source, Rendition(format: "wav"), SourceSettings(track: choice))
                Issue.record("\(choice) is there")
            } catch let error as MediaError {
                guard case .noAudio = error.reason else { Issue.record("\(error.reason)"); return }
                #expect(error.sentence.hasSuffix("it has 1 (flac, 1 channel, eng), 2 (flac, 1 channel, jpn)"))
            }
        }
    }

    private func garbled(_ bytes: Data, at part: Double, count: Int) -> Data {
        var bytes = bytes
        let start = Int(Double(bytes.count) * part)
        for index in start..<start + count { bytes[index] = UInt8(truncatingIfNeeded: index &* index >> 3 &* 167) }
        return bytes
    }

    /// How many samples later the left channel of one recording plays what the other does.
    private func lag(_ left: [Int16], against right: [Int16], from start: Int, count: Int) -> Int {
        (-2...2).max { one, other in product(left, right, start, count, one) < product(left, right, start, count, other)
        }!
    }

    private func product(_ left: [Int16], _ right: [Int16], _ start: Int, _ count: Int, _ lag: Int) -> Int {
        guard left.count > 2 * (start + count + 4), right.count > 2 * (start + count + 4) else { return 0 }
        return (start..<start + count).reduce(0) { $0 + Int(left[2 * ($1 + lag)]) * Int(right[2 * $1]) }
    }

    /// The correlation, from -1 to 1, of the left channel with the signal that the music is made of.
    private func likeness(_ samples: [Int16], from start: Int, count: Int, delay: Int) -> Double {
        guard samples.count > 2 * (start + count) else { return 0 }
        var (cross, own, other) = (0.0, 0.0, 0.0)
        for index in start..<start + count {
            let time = Double(index - delay) / 44_100
            let signal = 0.4 * sin(2 * .pi * 440 * time) + 0.2 * sin(2 * .pi * 1234 * time + 3 * sin(.pi * time))
            let value = Double(samples[2 * index])
            cross += signal * value
            own += value * value
            other += signal * signal
        }
        return cross / (own * other).squareRoot()
    }
}

/// Converts a file, by its path, reading it as the settings say.
private func convert(_ source: String, _ rendition: Rendition, _ settings: SourceSettings) async throws -> Converted {
    let path = await Studio.shared.output(AudioFormat.named(rendition.format)?.fileExtension ?? "bin")
    let result = try await onThread {
        let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
        let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        let store = OneStore(DescriptorStore(borrowing: output.number))
        return try Converter.run(
            source: DescriptorSource(borrowing: input.number), stores: store,
            plan: ConversionPlan(source: settings, renditions: [rendition]), stop: CancellationFlag(),
            progress: { _ in }
        )[0].get()
    }
    return Converted(result: result, path: path)
}
