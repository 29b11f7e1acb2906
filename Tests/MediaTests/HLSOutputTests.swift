import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import Playlists
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct HLSOutputTests {
    /// Converts the music to a stream in a new folder.
    private func stream(
        _ codec: String, _ segments: SegmentSettings, source: String? = nil, bitRate: Int? = nil
    ) async throws -> Stream {
        let path: String
        if let source { path = source } else { path = try await Studio.shared.music() }
        var rendition = Rendition(format: "hls", codec: codec, bitRate: bitRate)
        rendition.segments = segments
        let plan = ConversionPlan(renditions: [rendition])
        let folder = await Studio.shared.output("hls")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (result, names) = try await onThread {
            let stores = FolderStores(folder)
            let file = Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
            let results = try Converter.run(
                source: DescriptorSource(borrowing: file.number), stores: stores, plan: plan, stop: CancellationFlag(),
                progress: { _ in })
            try stores.save()
            return (try results[0].get(), stores.names)
        }
        return Stream(folder: folder, result: result, names: names)
    }

    private static let second = MediaTime(value: 1, timescale: 1)

    /// How many samples a channel a player may play that keeps the encoder's delay and padding.
    private static func played(seconds: Int, rate: Int = 44_100) -> Range<Int> {
        seconds * rate..<seconds * rate + 4 * 1152 + 2112
    }

    @Test(arguments: SegmentSettings.Container.allCases)
    func `players get the tags at the start, and a warning lists what segments cannot hold`(
        _ container: SegmentSettings.Container
    ) async throws {
        let source = try await Studio.shared.source(
            "titled.flac", ["-f", "lavfi", "-i", "sine=d=5", "-metadata", "title=Überall"])
        let segments = SegmentSettings(duration: Self.second, container: container)
        let stream = try await stream("aac", segments, source: source)
        #expect(stream.result.warnings == [])
        let files = stream.names.filter { $0.hasSuffix(".m4s") || $0.hasSuffix(".ts") }
        let first = [UInt8](try stream.data(files[0]))
        #expect(try !stream.data(files[1]).contains(Data("TIT2".utf8)))
        let tag = try #require(first.firstRange(of: Array("ID3".utf8) + [4, 0]))
        if container == .fmp4 {
            // Behind the box of 24 bytes that begins a segment.
            #expect(Array(first[28..<32]) == Array("emsg".utf8))
            let size = first[24..<28].reduce(0) { $0 << 8 | Int($1) }
            #expect(Array(first[(24 + size + 4)..<(24 + size + 8)]) == Array("moof".utf8))
            // A reader of tags finds this one where it is put before plain audio.
            let plain = try await Studio.shared.source("plain.aac", ["-f", "lavfi", "-i", "sine=d=1"])
            let path = await Studio.shared.output("aac")
            try Data(first[tag.lowerBound..<(24 + size)] + Data(contentsOf: URL(filePath: plain)))
                .write(to: URL(filePath: path))
            #expect(try await ffprobe(path, "format_tags=title") == "Überall")
        } else {
            let path = stream.folder + "/" + files[0]
            let found = try await WarmProgram.ffprobe.run(
                ["-v", "error", "-show_entries", "stream=codec_name", path])
            #expect(found.output.contains("timed_id3"))
            #expect(first.firstRange(of: Array("Überall".utf8)) != nil)
        }
        let decoded = try await decode(stream.folder + "/master.m3u8", as: Int16.self, "s16le").count
        #expect(Self.played(seconds: 5).contains(decoded))
    }

    @Test func `tags that only files need are left out of a stream`() async throws {
        let text = String(repeating: "long ", count: 2000)
        let plain = try await Studio.shared.source(
            "laden.mp3", ["-f", "lavfi", "-i", "sine=d=5", "-metadata", "title=Short", "-metadata", "comment=\(text)"])
        // A frame with data of its own (ID3v2.4.0 section 4.27) in a tag before the other.
        let data = Array("owner\0".utf8) + Array(repeating: 0x5A, count: 100_000)
        let frame = Array("PRIV".utf8) + synchsafe(data.count) + [0, 0] + data
        let bytes = Array("ID3".utf8) + [4, 0, 0] + synchsafe(frame.count) + frame
        let path = Studio.shared.folder.file("private.mp3")
        try Data(bytes + Data(contentsOf: URL(filePath: plain))).write(to: URL(filePath: path))
        for source in [plain, path] {
            let stream = try await stream(
                "aac", SegmentSettings(duration: Self.second, container: .fmp4), source: source)
            #expect(Set(stream.result.warnings.map(\.code)) == ["tags_dropped"])
            let first = try stream.data(stream.names.filter { $0.hasSuffix(".m4s") }[0])
            #expect(first.count < 60_000)
            #expect(first.firstRange(of: Data(repeating: 0x5A, count: 100)) == nil)
        }
    }

    /// Seven bits a byte (ID3v2.4.0 section 6.2).
    private func synchsafe(_ count: Int) -> [UInt8] {
        [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) }
    }

    @Test(arguments: [
        ("aac", SegmentSettings.Container.fmp4), ("aac", .mpegts), ("mp3", .mpegts), ("mp3", .fmp4), ("alac", .fmp4),
        ("flac", .fmp4), ("opus", .fmp4), ("ac3", .fmp4), ("ac3", .mpegts), ("eac3", .fmp4), ("eac3", .mpegts),
    ])
    func `a stream plays as a whole`(codec: String, container: SegmentSettings.Container) async throws {
        let stream = try await stream(codec, SegmentSettings(duration: Self.second, container: container))
        let rate = stream.result.sampleRate
        #expect(stream.result.samples == Int64(3 * rate))
        let playlist = try #require(stream.names.first { $0.hasSuffix(".m3u8") && $0 != "master.m3u8" })
        // Segments first, then their playlist, and the master playlist last: with it the stream appears.
        #expect(Array(stream.names.suffix(2)) == [playlist, "master.m3u8"])
        #expect(stream.names.dropLast().allSatisfy { $0.hasPrefix("audio-") })
        let lines = try stream.text(playlist).split(separator: "\n").map(String.init)
        let named = lines.filter { !$0.hasPrefix("#") }
        #expect(named == stream.names.filter { $0.hasSuffix(container == .fmp4 ? ".m4s" : ".ts") })
        let lengths = lines.filter { $0.hasPrefix("#EXTINF:") }.compactMap { Double($0.dropFirst(8).dropLast()) }
        let frame = 4608.0 / Double(rate)
        #expect(named.count == 3 || named.count == 4 && lengths.last! < 0.1, "\(lengths)")
        #expect(lengths.prefix(3).allSatisfy { abs($0 - 1) < frame }, "\(lengths)")
        #expect(lines.contains("#EXT-X-TARGETDURATION:1") && lines.last == "#EXT-X-ENDLIST")
        let extra = Double(stream.result.gapless.start + stream.result.gapless.end) / Double(rate)
        #expect(abs(lengths.reduce(0, +) - 3 - extra) < 0.000_002)
        if container == .fmp4 { #expect(stream.result.gapless == Gapless(start: 0, end: 0)) }
        let decoded = try await decode(stream.folder + "/master.m3u8", as: Int16.self, "s16le").count / 2
        #expect(Self.played(seconds: 3, rate: rate).contains(decoded), "\(decoded)")
        #expect(try await ffprobe(stream.folder + "/master.m3u8", "stream=codec_name") == codec)
        // Behind their initialization section the segments are a file, whose edit list and last duration hide the rest.
        guard container == .fmp4, ["aac", "alac", "flac"].contains(codec) else { return }
        let setup = try #require(lines.first { $0.hasPrefix("#EXT-X-MAP:") }).split(separator: "\"")[1]
        let joined = try ([String(setup)] + named).flatMap { try fileBytes(stream.folder + "/" + $0) }
        let path = try Studio.shared.folder.write("joined-\(codec).mp4", joined)
        #expect(try await convert(path, Rendition(format: "wav")).result.samples == Int64(3 * rate))
    }

    @Test func `the playlist gives the measured bandwidth and the codec`() async throws {
        let stream = try await stream("aac", SegmentSettings(duration: Self.second), bitRate: 96_000)
        let line = try #require(
            try stream.text("master.m3u8").split(separator: "\n").first { $0.hasPrefix("#EXT-X-STREAM-INF:") })
        let attributes = HLSAttributes(line.dropFirst("#EXT-X-STREAM-INF:".count))
        #expect(attributes["CODECS"] == "mp4a.40.2")
        let peak = try #require(Int(attributes["BANDWIDTH"] ?? ""))
        let average = try #require(Int(attributes["AVERAGE-BANDWIDTH"] ?? ""))
        #expect(average <= peak)
        let playlist = try #require(stream.names.first { $0.hasSuffix(".m3u8") })
        let lines = try stream.text(playlist).split(separator: "\n")
        let lengths = lines.compactMap { line -> Double? in
            line.hasPrefix("#EXTINF:") ? Double(line.dropFirst(8).dropLast()) : nil
        }
        let sizes = try stream.names.filter { $0.hasSuffix(".m4s") }.map { try stream.data($0).count }
        let rates = zip(sizes, lengths).compactMap { (size: Int, length: Double) -> Double? in
            length > 0.5 ? Double(size * 8) / length : nil
        }
        let highest: Double = rates.max()!
        #expect(abs(Double(peak) - highest) < 2)
        let bits: Int = sizes.reduce(0, +) * 8
        let seconds: Double = lengths.reduce(0, +)
        let expected: Double = Double(bits) / seconds
        #expect(abs(Double(average) - expected) < 2)
    }

    @Test func `a master playlist offers several bit rates of one sound`() async throws {
        var segments = SegmentSettings(duration: Self.second)
        segments.bitRates = [64_000, 128_000]
        let stream = try await stream("aac", segments)
        let lines = try stream.text("master.m3u8").split(separator: "\n").map(String.init)
        let playlists = lines.filter { !$0.hasPrefix("#") }
        #expect(playlists.count == 2 && playlists[0].hasSuffix("-64k.m3u8") && playlists[1].hasSuffix("-128k.m3u8"))
        let bandwidths = lines.filter { $0.hasPrefix("#EXT-X-STREAM-INF:") }.compactMap {
            HLSAttributes($0.dropFirst("#EXT-X-STREAM-INF:".count))["AVERAGE-BANDWIDTH"].flatMap { Int($0) }
        }
        #expect(bandwidths.count == 2 && bandwidths[0] * 4 < bandwidths[1] * 3, "\(bandwidths)")
        #expect(stream.names.last == "master.m3u8")
        // Each is what it is when made alone.
        for (playlist, rate) in zip(playlists, segments.bitRates) {
            let alone = try await self.stream("aac", SegmentSettings(duration: Self.second), bitRate: rate)
            let samples = try await decode(
                ["\(stream.folder)/\(playlist)", "\(alone.folder)/master.m3u8"], as: Int16.self, "s16le")
            #expect(samples[0] == samples[1] && Self.played(seconds: 3).contains(samples[0].count / 2))
        }
        #expect(stream.result.settings["bit_rates"]?.effective == "64000,128000")
    }

    @Test func `an edit list signals the encoder's delay`() async throws {
        let stream = try await stream("aac", SegmentSettings(duration: Self.second))
        let setup = Array(try stream.data(try #require(stream.names.first)))
        let list = try #require(setup.firstRange(of: Array("elst".utf8)))
        // Version 0, one entry: its duration is open, its start the 1024 samples of delay.
        let told = Array(setup[list.upperBound..<list.upperBound + 16])
        let expected: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0]
        #expect(told == expected)
    }

    @Test func `playback can begin with every segment`() async throws {
        for container in SegmentSettings.Container.allCases {
            let stream = try await stream("aac", SegmentSettings(duration: Self.second, container: container))
            let setup = try stream.names.first { $0.hasSuffix("-init.mp4") }.map { try stream.data($0) } ?? Data()
            for name in stream.names where name.hasSuffix(".m4s") || name.hasSuffix(".ts") {
                let path = await Studio.shared.output(container == .fmp4 ? "mp4" : "ts")
                try (setup + stream.data(name)).write(to: URL(filePath: path))
                #expect(try await decode(path, as: Int16.self, "s16le").count > 0)
            }
        }
    }

    @Test func `a source shorter than a segment becomes one segment`() async throws {
        for container in SegmentSettings.Container.allCases {
            let stream = try await stream("aac", SegmentSettings(container: container))
            #expect(stream.names.count { $0.hasSuffix(".m4s") || $0.hasSuffix(".ts") } == 1)
            let decoded = try await decode(stream.folder + "/master.m3u8", as: Int16.self, "s16le").count / 2
            #expect(Self.played(seconds: 3).contains(decoded), "\(decoded)")
        }
    }

    @Test func `a codec that such segments do not take is refused`() async throws {
        let error = await #expect(throws: MediaError.self) {
            _ = try await stream("flac", SegmentSettings(container: .mpegts))
        }
        #expect(error?.sentence == "segments of mpegts do not support codec 'flac'; they support aac, mp3, ac3, eac3")
    }
}

/// A stream that was written.
private struct Stream {
    let folder: String
    let result: ConversionResult
    /// Its files in the order in which they were begun.
    let names: [String]

    func data(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(folder)/\(name)")) }
    func text(_ name: String) throws -> String { String(decoding: try data(name), as: UTF8.self) }
}

/// The files of one output, in memory until they are saved.
final class FolderStores: OutputStores {
    private let folder: String
    private var files: [(name: String, store: MemoryStore)] = []

    init(_ folder: String) { self.folder = folder }

    /// All files in the order in which they were begun; all but the main one, which is the last, were finished.
    var names: [String] { finished.sorted() == files.dropLast().map(\.name).sorted() ? files.map(\.name) : [] }
    private var finished: [String] = []

    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput {
        files.append((try name.map { try placeName(output: index, part: $0) } ?? "master.m3u8", MemoryStore()))
        return files.last!.store
    }

    func placeName(output index: Int, part name: String) throws -> String {
        "audio" + name.replacing("{token}", with: "t0ken")
    }

    func finish(output index: Int, part name: String) throws {
        finished.append(try placeName(output: index, part: name))
    }

    func save() throws {
        for file in files { try Data(file.store.bytes).write(to: URL(filePath: "\(folder)/\(file.name)")) }
    }
}
