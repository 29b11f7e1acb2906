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

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TagTests {
    /// What a source is made with, by its name's ending.
    private static let sources: [(name: String, arguments: [String])] = [
        ("mp3", []), ("m4a", []), ("flac", []), ("ogg", ["-c:a", "libvorbis"]), ("opus", ["-c:a", "libopus"]),
        ("wav", []), ("aiff", []), ("wv", ["-c:a", "wavpack"]), ("tta", []), ("wma", ["-c:a", "wmav2"]),
    ]

    /// The formats whose tags mutagen reads, as far as they are in the table.
    private static let targets = [
        "mp3", "m4a", "m4b", "alac", "flac", "wav", "aiff", "ogg", "opus", "mp4", "wv", "tta", "wma",
    ].filter { AudioFormat.named($0) != nil }

    /// The sources, tagged in full by mutagen.
    private static func tagged() async throws -> [(name: String, path: String)] {
        let studio = Studio.shared
        let jpeg = try await studio.source(
            "cover.jpg", ["-f", "lavfi", "-i", "color=red:s=48x48", "-frames:v", "1"])
        let png = try await studio.source("cover.png", ["-f", "lavfi", "-i", "color=blue:s=32x32", "-frames:v", "1"])
        var paths: [(name: String, path: String)] = []
        for (name, arguments) in sources {
            let path = await studio.output(name)
            try await Studio.ffmpeg(["-f", "lavfi", "-i", "sine=d=0.5:r=48000"] + arguments + [path])
            paths.append((name, path))
        }
        try await TagScript.tag(paths.map(\.path), jpeg: jpeg, png: png)
        return paths
    }

    @Test func `all tags are carried over between every pair of formats`() async throws {
        let sources = try await Self.tagged()
        var results: [(pair: String, source: String, target: String, converted: Converted)] = []
        for source in sources {
            for target in Self.targets {
                let converted = try await convert(source.path, Rendition(format: target))
                results.append(("\(source.name) to \(target)", source.name, target, converted))
            }
        }
        let given = try await TagScript.read(sources.map(\.path))
        let told = try await TagScript.read(results.map(\.converted.path))
        let origins = Dictionary(uniqueKeysWithValues: zip(sources.map(\.name), given))
        #expect(given.allSatisfy { $0.texts.count >= 21 && $0.pictures.count == 2 })
        for (result, told) in zip(results, told) {
            let origin = try #require(origins[result.source])
            for (name, values) in expected(origin.texts, from: result.source, to: result.target) {
                #expect(told.texts[name] == values, "\(name), \(result.pair)")
            }
            // APE's items have no order.
            let isOrdered = !["wv", "tta"].contains(result.target)
            func pictures(_ told: Told) -> [Told.Picture] {
                guard isOrdered else { return told.pictures.sorted { $0.digest < $1.digest } }
                // Players take the first picture, so the front cover goes ahead.
                return told.pictures.filter { $0.kind == 3 } + told.pictures.filter { $0.kind != 3 }
            }
            #expect(pictures(told).map(\.digest) == pictures(origin).map(\.digest), "\(result.pair)")
            #expect(pictures(told).map(\.mime) == pictures(origin).map(\.mime), "\(result.pair)")
            if result.source != "m4a", !["m4a", "m4b", "alac", "mp4"].contains(result.target) {
                #expect(pictures(told) == pictures(origin), "\(result.pair)")
            }
            let isChaptered = !["m4a", "wv", "wma"].contains(result.source)
            if isChaptered, !["wv", "tta", "wma"].contains(result.target) {
                let chapters = [Told.Chapter(start: 0, title: "Eins"), Told.Chapter(start: 200, title: "Глава 二 🎵")]
                #expect(told.chapters.map(\.start) == chapters.map(\.start), "\(result.pair)")
                #expect(told.chapters.map(\.title) == ["Eins", "Глава 二 🎵"], "\(result.pair)")
            } else if isChaptered, result.target != "wma" {
                #expect(result.converted.result.warnings.contains { $0.code == "chapters_dropped" }, "\(result.pair)")
            }
            #expect(!result.converted.result.warnings.contains { $0.code == "tags_dropped" }, "\(result.pair)")
        }
    }

    @Test func `tags of any name are kept in every format`() async throws {
        let source = try #require(try await Self.tagged().first { $0.name == "flac" }).path
        let origin = try await TagScript.read([source])[0]
        var results: [(format: String, converted: Converted)] = []
        // Pictures of sound are no place for tags, and those of a stream stand in its segments.
        for format in AudioFormat.all where !format.isPicture && format.name != "hls" {
            results.append((format.name, try await convert(source, Rendition(format: format.name))))
        }
        #expect(results.count > 25)
        func sentence(_ code: String, _ converted: Converted) -> String? {
            converted.result.warnings.first { $0.code == code }?.message
        }
        // What holds nothing is nothing that the tools could open.
        let holding = results.filter {
            sentence("tags_dropped", $0.converted)?.contains("does not support tags") != true
        }
        let told = try await TagScript.read(holding.map(\.converted.path))
        for (format, converted) in results {
            let found = holding.firstIndex { $0.format == format }.map { told[$0] }
            let dropped = sentence("tags_dropped", converted).map { Self.named(in: $0) } ?? []
            for (name, values) in expected(origin.texts, from: "flac", to: format) {
                let isThere = [values, [values.joined(separator: "; ")]].contains(found?.texts[name] ?? [])
                #expect(isThere != dropped.contains(TagName.shown(TagName.neutral(name))), "\(name) in \(format)")
            }
            let (pictures, chapters) = (found?.pictures.count ?? 0, found?.chapters.count ?? 0)
            #expect(
                (pictures == 2) != (sentence("pictures_dropped", converted) != nil), "\(pictures) pictures in \(format)"
            )
            // mutagen reads no chapters of ASF.
            guard format != "wma" else { continue }
            #expect(
                (chapters == 2) != (sentence("chapters_dropped", converted) != nil), "\(chapters) chapters in \(format)"
            )
        }
    }

    /// The names that a warning lists behind its colon.
    private static func named(in sentence: String) -> [String] {
        guard let colon = sentence.lastIndex(of: ":") else { return [] }
        return sentence[colon...].dropFirst(2).split(separator: ", ").map(String.init)
    }

    private typealias Told = TagScript.Told

    /// What a target should tell of a source's texts.
    private func expected(
        _ texts: [String: [String]], from source: String, to target: String
    ) -> [String: [String]] {
        var texts = texts
        for name in ["priv", "encoder", "wm/encodingsettings", "isvbr", "wmfsdkversion"] { texts[name] = nil }
        let becomesOpus = ["opus", "webm"].contains(target)
        if source == "opus" || becomesOpus { texts["replaygain_track_gain"] = nil }
        if becomesOpus, source != "opus" { texts["r128_track_gain"] = ["-2944"] }
        // With times they are told as a text of that form.
        if ["mp3", "wav", "aiff", "tta"].contains(source), texts["lyrics"] != nil { texts["syncedlyrics"] = nil }
        return texts
    }

    @Test func `times of lyrics and frames that only ID3 has are kept`() async throws {
        let source = try #require(try await Self.tagged().first { $0.name == "mp3" }).path
        let whole = try await convert(source, Rendition(format: "wav"))
        let cut = try await convert(
            source, Rendition(format: "aiff"), start: MediaTime(value: 1, timescale: 5),
            end: MediaTime(value: 2, timescale: 5))
        let flac = try await convert(source, Rendition(format: "flac"))
        let told = try await TagScript.read([whole.path, cut.path, flac.path])
        #expect(told[0].lines == ["100 ein", "300 zwei"])
        #expect(told[0].texts["priv"] == ["0001ff"])
        #expect(told[1].lines == ["0 ein", "100 zwei"])
        #expect(told[1].chapters == [Told.Chapter(start: 0, title: "Глава 二 🎵")])
        #expect(told[2].texts["syncedlyrics"] == ["[00:00.10]ein\n[00:00.30]zwei"])
    }

    @Test func `the job's tags are set and removed`() async throws {
        let source = try #require(try await Self.tagged().first { $0.name == "flac" }).path
        var rendition = Rendition(format: "mp3")
        rendition.tags = TagSettings(
            metadata: ["title": ["Новое имя"], "artist": ["A", "B"], "album_artist": [""], "My Own": []])
        let converted = try await convert(source, rendition)
        let told = try await TagScript.read([converted.path])[0]
        #expect(told.texts["title"] == ["Новое имя"])
        #expect(told.texts["artist"] == ["A", "B"])
        #expect(told.texts["albumartist"] == nil)
        #expect(told.texts["my own"] == nil)
        #expect(told.texts["album"] == ["Álbum"])
    }

    @Test(arguments: [("CP1251", "Кино — Группа крови"), ("GBK", "坂本龙一"), ("SHIFT_JIS", "坂本龍一 テスト")])
    func `text that is wrongly declared as Latin-1 is read`(_ charset: String, _ text: String) async throws {
        let path = try await Studio.shared.music(
            as: "latin.mp3", ["-t", "0.5", "-id3v2_version", "0", "-write_xing", "0"])
        let iconv = try await ChildProcess.run(
            "iconv", ["-f", "UTF-8", "-t", charset], input: .bytes(Array(text.utf8)))
        let bytes = Array(iconv.standardOutput)
        // An ID3v2.3 tag of one frame, whose encoding byte says Latin-1.
        var frame = Array("TIT2".utf8) + bigEndian(UInt64(bytes.count + 1), 4)
        frame += [0, 0, 0] + bytes
        var file = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(frame.count)]
        file += frame
        file += try Data(contentsOf: URL(filePath: path))
        let tagged = await Studio.shared.output("mp3")
        try Data(file).write(to: URL(filePath: tagged))
        let title = try await onThread {
            let input = Descriptor(owning: open(tagged, O_RDONLY | O_CLOEXEC))
            let source = try DescriptorSource(borrowing: input.number)
            return try Probe.of(source, charset: charset, stop: CancellationFlag()).tags["title"]
        }
        #expect(title == [text])
    }
}
