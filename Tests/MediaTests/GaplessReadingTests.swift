import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import TestSupport
import Testing

/// What containers keep at both ends of the audio, and what is said of its length.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct GaplessReadingTests {
    @Test(arguments: [
        ("ogg", "libvorbis", 44_100), ("opus", "libopus", 48_000), ("oga", "flac", 44_100), ("spx", "libspeex", 16_000),
    ])
    func `all links of a chained file are read, each without its delay and padding`(
        _ container: String, _ codec: String, _ rate: Int
    ) async throws {
        var chain = Data()
        for seconds in [3, 4] {
            let link = try await Studio.shared.source(
                "link-\(seconds).\(container)",
                ["-f", "lavfi", "-i", "sine=440:r=\(rate):d=\(seconds)", "-c:a", codec])
            chain.append(try Data(contentsOf: URL(filePath: link)))
        }
        let path = await Studio.shared.output(container)
        try chain.write(to: URL(filePath: path))
        let result = try await convert(path, Rendition(format: "wav")).result
        #expect(result.samples == Int64(7 * rate) && result.warnings.isEmpty && result.damage.events == 0, "\(result)")
    }

    /// Programs other than ffmpeg write more headers into each link, such as padding.
    @Test func `headers of a later link of FLAC are no damage`() async throws {
        var chain: [UInt8] = []
        for (serial, seconds) in [(1, 1), (2, 2)] {
            let sound = try await Studio.shared.source(
                "chained-\(seconds).wav", ["-f", "lavfi", "-i", "sine=440:r=44100:d=\(seconds)"])
            let link = await Studio.shared.output("oga")
            let arguments = ["-s", "-f", "--ogg", "--serial-number", "\(serial)", "-P", "500", sound, "-o", link]
            #expect(try await ChildProcess.run("flac", arguments).succeeded)
            chain += try fileBytes(link)
        }
        let result = try MemoryFile(chain).converted(to: Rendition(format: "wav")).result
        #expect(result.samples == 3 * 44_100 && result.warnings.isEmpty && result.damage.events == 0, "\(result)")
    }

    /// The first link has shorter blocks, and another rate, depth or number of channels.
    @Test(arguments: [(16_000, 1, "s16"), (44_100, 2, "s16"), (48_000, 2, "s32"), (96_000, 6, "s16")])
    func `a later link of FLAC may have other properties`(_ rate: Int, _ channels: Int, _ depth: String) async throws {
        var chain: [UInt8] = []
        for (rate, channels, depth, block) in [(rate, channels, depth, 1024), (48_000, 2, "s16", 4608)] {
            let layout = try #require([1: "mono", 2: "stereo", 6: "5.1"][channels])
            let tone = Array(repeating: "0.5*sin(2*PI*500*t)", count: channels).joined(separator: "|")
            chain += try fileBytes(
                try await Studio.shared.source(
                    "link-\(rate)-\(channels)-\(depth)-\(block).oga",
                    [
                        "-f", "lavfi", "-i", "aevalsrc=\(tone):s=\(rate):d=4:c=\(layout)", "-sample_fmt", depth, "-c:a",
                        "flac",
                        "-frame_size", String(block),
                    ]))
        }
        let made = try MemoryFile(chain).converted(to: Rendition(format: "wav", sampleFormat: .f32))
        #expect(made.result.damage.events == 0 && made.result.warnings.isEmpty)
        #expect(made.result.samples == Int64(8 * rate))
        for link in [rate..<(3 * rate), (5 * rate)..<(7 * rate)] {
            let front = try made.file.samples()[(link.lowerBound * channels)..<(link.upperBound * channels)]
                .enumerated().filter { $0.offset % channels == 0 }.map(\.element)
            let power = front.reduce(0.0) { $0 + Double($1 * $1) } / Double(front.count)
            #expect(abs(power - 0.125) < 0.002)
        }
    }

    @Test(arguments: [
        ("adpcm_ima_wav", 2041, "wav"), ("adpcm_ms", 2036, "wav"), ("gsm_ms", 320, "wav"),
        ("adpcm_ima_wav", 2041, "w64"), ("adpcm_ms", 2036, "w64"),
    ])
    func `the padding of the last block is removed if the file declares its samples`(
        _ codec: String, _ block: Int, _ container: String
    ) async throws {
        let source = try await Studio.shared.source(
            "blocks-\(codec).\(container)",
            ["-f", "lavfi", "-i", "sine=440:r=8000:d=2", "-c:a", codec])
        let bytes = try fileBytes(source)
        // The body of `fact` follows a size of four bytes, or the rest of an identifier and a size of eight.
        let fact = try #require(bytes.firstRange(of: Array("fact".utf8))).upperBound + (container == "wav" ? 4 : 20)
        func samples(declaring count: Int) throws -> [Float] {
            var changed = bytes
            changed.replaceSubrange(fact..<fact + 4, with: littleEndian(UInt64(count), 4))
            return try MemoryFile(changed).samples()
        }
        let whole = try samples(declaring: 0)
        let blocks = (16_000 + block - 1) / block
        for count in [blocks * block - 1, blocks * block - 77, (blocks - 1) * block + 1] {
            #expect(try samples(declaring: count) == Array(whole.prefix(count)), "\(count)")
        }
        // What does not end in the last block is no number of samples.
        for count in [1, (blocks - 1) * block, blocks * block + 1, Int(UInt32.max)] {
            #expect(try samples(declaring: count).count == blocks * block, "\(count)")
        }
    }

    @Test(arguments: [82, 83])
    func `the byte that pads an odd number of blocks of GSM is no damage`(_ blocks: Int) async throws {
        let source = try await Studio.shared.source(
            "voicemail-\(blocks).wav",
            ["-f", "lavfi", "-i", "sine=440:r=8000:d=\(Double(blocks) * 0.04)", "-c:a", "gsm_ms"])
        var bytes = try fileBytes(source)
        // Asterisk counts the byte that makes the size of the data even.
        let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
        let frames = bytes[(data + 4)...].prefix(65 * blocks) + (blocks % 2 == 1 ? [0] : [])
        bytes = Array(bytes[..<data]) + littleEndian(UInt64(frames.count), 4) + frames
        bytes.replaceSubrange(4..<8, with: littleEndian(UInt64(bytes.count - 8), 4))
        let result = try MemoryFile(bytes).converted(to: Rendition(format: "wav")).result
        #expect(result.samples == Int64(320 * blocks) && result.warnings.isEmpty, "\(result)")
    }

    @Test(arguments: [("mp3", ["-write_xing", "0"], [1152, 576]), ("ogg", ["-c:a", "libvorbis"], nil)])
    func `the first rate stays if rate and channels change on the way`(
        _ container: String, _ arguments: [String], _ frames: [Int]?
    ) async throws {
        var chain = Data()
        var samples = 0
        for (index, (rate, channels)) in [(44_100, 2), (22_050, 1)].enumerated() {
            let part = await Studio.shared.output(container)
            try await Studio.ffmpeg(
                ["-f", "lavfi", "-i", "sine=500:r=\(rate):d=2", "-ac", "\(channels)"] + arguments + [part])
            chain.append(try Data(contentsOf: URL(filePath: part)))
            // MPEG audio alone does not tell of delay and padding: all of its packets sound.
            let packets = try await WarmProgram.ffprobe.run(
                ["-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", part])
            let count = frames.flatMap { lengths in Int(packets.output.filter(\.isNumber)).map { $0 * lengths[index] } }
            samples += (count ?? 2 * rate) * 44_100 / rate
        }
        let path = await Studio.shared.output(container)
        try chain.write(to: URL(filePath: path))
        let converted = try await convert(path, Rendition(format: "wav"))
        #expect(converted.result.sampleRate == 44_100 && converted.result.channels == 2)
        // libav loses a frame of MPEG audio where the header changes.
        #expect(abs(converted.result.samples - Int64(samples)) <= (container == "ogg" ? 0 : 2304))
        // A second of the later part crosses zero upwards 500 times.
        let left = try await decode(converted.path, as: Int16.self, "s16le").enumerated().filter { $0.offset % 2 == 0 }
        let second = left.map(\.element)[(samples - 66_150)...].prefix(44_100)
        let rises = zip(second, second.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect((498...502).contains(rises), "\(rises)")
    }

    @Test(arguments: [
        ("ogg", ["-c:a", "libvorbis"]), ("opus", []), ("opus", ["-b:a", "12k", "-application", "voip"]),
    ])
    func `short links of a chained file are joined as if they were one`(
        _ container: String, _ arguments: [String]
    ) async throws {
        // Each link's sound is one page, or a few. The tone goes on over the join.
        var chain = Data()
        for link in 0..<2 {
            let path = await Studio.shared.output(container)
            try await Studio.ffmpeg(
                ["-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*500*(t+\(link)*0.301)):s=48000:d=0.301"] + arguments + [
                    path
                ])
            chain.append(try Data(contentsOf: URL(filePath: path)))
        }
        let path = await Studio.shared.output(container)
        try chain.write(to: URL(filePath: path))
        let converted = try await convert(path, Rendition(format: "wav", sampleFormat: .f32))
        let length = 14_448
        #expect(converted.result.samples == Int64(2 * length))
        let found = try await decode(converted.path, as: Float.self, "f32le")
        // Decoded across the join, the second link begins with a crack of up to five times the tone.
        #expect(found.allSatisfy { abs($0) < 0.6 })
        // What was made for speech keeps no tone as it was.
        guard arguments.last != "voip" else { return }
        for (first, end) in [(1000, length - 500), (length + 1000, 2 * length - 500)] {
            let errors = (first..<end).map { place -> Double in
                let tone: Double = 0.5 * sin(2 * .pi * 500 * Double(place) / 48_000)
                return abs(Double(found[place]) - tone)
            }
            #expect(errors.max()! < 0.1)
        }
    }

    @Test func `delay and padding are removed behind an empty edit`() async throws {
        let source = try await Studio.shared.source(
            "empty-edit.m4a", ["-itsoffset", "0.5", "-i", try await Studio.shared.music(), "-movie_timescale", "44100"])
        // ffmpeg hides no delay there: let the second edit begin behind it, as other writers do.
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: source)))
        let list = try #require(bytes.firstRange(of: Array("elst".utf8))).upperBound
        for (offset, value) in [(8, 22_050), (20, 132_300), (24, 1024)] {
            for index in 0..<4 { bytes[list + offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
        }
        let path = await Studio.shared.output("m4a")
        try Data(bytes).write(to: URL(filePath: path))
        let converted = try await convert(path, Rendition(format: "wav"))
        #expect(converted.result.samples == 132_300)
        let music = try await decode(try await Studio.shared.music(), as: Int16.self, "s16le")
        let found = try await decode(converted.path, as: Int16.self, "s16le")
        let sums = (-40...40).map { lag in
            (10_000..<14_000).reduce(0.0) { $0 + Double(found[($1 + lag) * 2]) * Double(music[$1 * 2]) }
        }
        #expect(sums.indices.max { sums[$0] < sums[$1] } == 40)
    }

    @Test func `the packet table of Core Audio is honoured`() async throws {
        let opus = try await Studio.shared.music(as: "table.opus")
        let source = try await Studio.shared.source("table.caf", ["-i", opus, "-c", "copy"])
        var bytes = try fileBytes(source)
        // ffmpeg tells neither: 312 samples of delay, 144,000 of sound, and the rest of 151 packets.
        let table = try #require(bytes.firstRange(of: Array("pakt".utf8))).upperBound + 8
        for (offset, value) in [(12, 144_000), (16, 312), (20, 151 * 960 - 144_312)] {
            for index in 0..<4 { bytes[table + offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
        }
        let path = try Studio.shared.folder.write("told.caf", bytes)
        let found = try MemoryFile(path: path).samples()
        #expect(found.count == 2 * 144_000)
        #expect(try MemoryFile(path: opus).samples() == found)
    }

    @Test(arguments: [8000, 12_000, 16_000, 24_000])
    func `all of the delay of Opus is removed if the ticks are not those of 48 kHz`(rate: Int) async throws {
        let arguments = ["-i", try await Studio.shared.music(), "-c:a", "libopus", "-ar", String(rate)]
        let whole = try await Studio.shared.source("ticks-\(rate).opus", arguments)
        let source = try await Studio.shared.source("ticks-\(rate).mp4", arguments)
        #expect(try await ffprobe(source, "stream=time_base") == "1/\(rate)")
        let found = try MemoryFile(path: source).samples()
        #expect(found.count == 2 * 144_000)
        #expect(try MemoryFile(path: whole).samples() == found)
    }

    @Test func `all of the delay of Opus is removed if the ticks do not divide it`() async throws {
        let whole = try await Studio.shared.music(as: "undivided.opus")
        let copy = try await Studio.shared.source("undivided.mp4", ["-i", whole, "-c", "copy"])
        // The track's scale and length, the packets' lengths and the edit's start, in ticks of 44.1 kHz.
        var bytes = try fileBytes(copy)
        for (box, places) in [("mdhd", [12, 16]), ("stts", [12, 20]), ("elst", [12])] {
            let body = try #require(bytes.firstRange(of: Array(box.utf8))).upperBound
            for place in places.map({ body + $0 }) {
                let value = (0..<4).reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
                let scaled = Int((Double(value) * 44_100 / 48_000).rounded())
                for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: scaled >> (24 - 8 * index)) }
            }
        }
        let source = try Studio.shared.folder.write("divided.mp4", bytes)
        #expect(try await ffprobe(source, "stream=time_base") == "1/44100")
        let found = try MemoryFile(path: source).samples()
        #expect(found.count == 2 * 144_000)
        #expect(try MemoryFile(path: whole).samples() == found)
    }

    @Test func `the delay in the edit list of a fragmented file is removed`() async throws {
        let whole = try await Studio.shared.music(as: "to-fragment.m4a", ["-movie_timescale", "44100"])
        let source = try await Studio.shared.source(
            "edited-fragments.mp4",
            ["-i", whole, "-c", "copy", "-movflags", "dash+delay_moov", "-frag_duration", "1000000"])
        let found = try MemoryFile(path: source).samples()
        #expect(found.count == 2 * 132_300)
        #expect(try MemoryFile(path: whole).samples() == found)
    }

    @Test(arguments: ["probed.mp3", "probed.opus", "probed.m4a", "probed.ogg", "probed.flac", "probed.wv"])
    func `the reported duration is what the source decodes to`(_ name: String) async throws {
        let path = try await Studio.shared.music(
            as: name, name.hasSuffix("m4a") ? ["-movie_timescale", "44100"] : [])
        let probe = try await onThread {
            let input = Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
            return try Probe.of(DescriptorSource(borrowing: input.number), stop: CancellationFlag())
        }
        #expect(probe.duration == MediaTime(value: 3, timescale: 1))
    }

    @Test func `times are written in seconds with decimals`() async throws {
        let late = await failure(
            try await Studio.shared.music(), start: MediaTime(sample: 300_001, rate: 44_100), end: nil)
        #expect(late?.sentence == "the range starts at 6.802744 s, after the end of the source at 3 s")
        #expect(MediaTime(value: -7, timescale: 4).text == "-1.75")
        #expect(MediaTime(value: 2, timescale: 3).text == "0.666667")
    }
}
