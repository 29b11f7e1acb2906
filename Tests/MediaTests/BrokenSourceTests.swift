import Bytes
import Encoding
import FoundationEssentials
import Glibc
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct BrokenSourceTests {
    private static let kinds: [(String, [String])] = [
        ("c.wav", []), ("c.flac", []), ("c.mp3", []), ("bare-c.mp3", ["-write_xing", "0"]),
        ("c.ogg", ["-c:a", "libvorbis"]),
        ("c.opus", []), ("c.aiff", []), ("c.m4a", []), ("fast-c.m4a", ["-movflags", "+faststart"]), ("c.caf", []),
        ("alac-c.caf", ["-c:a", "alac"]), ("c.mka", ["-c:a", "flac"]), ("c.aac", []), ("c.wma", []), ("c.wv", []),
        ("c.w64", []), ("c.au", []), ("c.ac3", []), ("c.avi", []), ("c.ts", []),
        ("fragments-c.mp4", ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"]),
    ]

    @Test(arguments: kinds)
    func `a truncated source never passes for the whole`(_ name: String, _ arguments: [String]) async throws {
        let source = try await Studio.shared.music(as: name, arguments)
        let bytes = try Data(contentsOf: URL(filePath: source))
        for percent in [60, 97] {
            let path = try Studio.shared.folder.write(
                "\(percent)-\(name)", bytes.prefix(bytes.count * percent / 100 + 33))
            let failed = await failure(path)
            guard case .truncated = failed?.reason else {
                Issue.record("\(name) at \(percent) %: \(failed.map { "\($0.reason)" } ?? "success")")
                continue
            }
        }
    }

    @Test func `a range that lies before the cut is read`() async throws {
        for name in ["c.wav", "c.flac", "c.mp3", "c.ogg"] {
            let arguments = Self.kinds.first { $0.0 == name }!.1
            let bytes = try Data(contentsOf: URL(filePath: try await Studio.shared.music(as: name, arguments)))
            let path = try Studio.shared.folder.write("early-\(name)", bytes.prefix(bytes.count * 6 / 10))
            let converted = try await convert(
                path, Rendition(format: "flac"), start: MediaTime(parsing: "0.5")!, end: MediaTime(parsing: "0.9")!)
            #expect(converted.result.samples == 17_640)
        }
    }

    @Test(arguments: [("d.flac", []), ("d.m4a", []), ("d.ogg", ["-c:a", "libvorbis"]), ("d.mp3", [])])
    func `damage in the middle fails the conversion`(_ name: String, _ arguments: [String]) async throws {
        var bytes = try Data(contentsOf: URL(filePath: try await Studio.shared.music(seconds: 6, as: name, arguments)))
        let middle = bytes.count / 2
        for index in middle..<middle + 3000 { bytes[index] = UInt8(truncatingIfNeeded: index &* 167) }
        let path = try Studio.shared.folder.write("damaged-\(name)", bytes)
        #expect(await failure(path) != nil)
    }

    @Test(arguments: [
        // Packets of a thousand samples, so that damage is not only in samples, where nothing shows it.
        ("g.mka", ["-af", "asetnsamples=1024", "-c:a", "pcm_s16le"]), ("o-g.webm", ["-c:a", "libopus"]),
        ("v-g.webm", ["-c:a", "libvorbis"]),
        ("g.wma", []), ("g.ts", ["-c:a", "aac"]), ("g.spx", ["-c:a", "libspeex", "-ar", "16000"]),
    ])
    func `an error that a container skips over fails the conversion`(_ name: String, _ arguments: [String]) async throws
    {
        let source = try await Studio.shared.music(as: name, arguments)
        _ = try await convert(source, Rendition(format: "wav"))
        var bytes = try Data(contentsOf: URL(filePath: source))
        let middle = bytes.count / 2
        for index in middle..<middle + 4096 { bytes[index] = UInt8(truncatingIfNeeded: index &* index >> 3 &* 167) }
        let failed = await failure(try Studio.shared.folder.write("garbled-\(name)", bytes))
        switch failed?.reason {
        case .corruptMedia, .truncated: break
        default: Issue.record("\(name): \(failed.map { "\($0.reason)" } ?? "success")")
        }
    }

    @Test(arguments: [("film.flv", "libmp3lame"), ("film.nut", "libvorbis")])
    func `a film that lost a part of its sound fails`(_ name: String, _ codec: String) async throws {
        let film = ["-f", "lavfi", "-i", "testsrc=d=3:r=10:s=64x64", "-i", try await Studio.shared.music()]
        let source = try await Studio.shared.source(name, film + ["-c:a", codec])
        _ = try await convert(source, Rendition(format: "wav"))
        var bytes = try Data(contentsOf: URL(filePath: source))
        let middle = bytes.count / 2
        for index in middle..<middle + 4096 { bytes[index] = UInt8(truncatingIfNeeded: index &* index >> 3 &* 167) }
        #expect(try await refusal("garbled-\(name)", bytes) != nil)
    }

    @Test func `a pause between packets is no damage`() async throws {
        let source = try await Studio.shared.music(
            as: "pause.mka", ["-af", "asetpts='PTS+if(gt(T,1.5),2/TB,0)'", "-c:a", "flac"])
        #expect(try await ffprobe(source, "format=duration").hasPrefix("5."))
        #expect(try await convert(source, Rendition(format: "wav")).result.samples == 132_300)
    }

    @Test func `a whole file with a senseless header is corrupt, not short`() async throws {
        var bytes = try Data(contentsOf: URL(filePath: try await Studio.shared.music(as: "rate.aiff")))
        // The sample rate of the COMM chunk, which comes first.
        for index in 28..<38 { bytes[index] = 0 }
        let refused = try await refusal("rate-0.aiff", bytes)
        guard case .corruptMedia = refused?.reason else { Issue.record("\(String(describing: refused))"); return }
    }

    @Test func `a senseless length in the headers of MPEG-4 fails, and an edited one does not`() async throws {
        let source = try await Studio.shared.music(as: "scale.m4a")
        var bytes = try Data(contentsOf: URL(filePath: source))
        let header = try #require(bytes.firstRange(of: Data("mdhd".utf8))).upperBound
        // The timescale, behind version, flags and two times.
        bytes.replaceSubrange(header + 12..<header + 16, with: [0, 0, 0, 1])
        #expect(try await refusal("scale-1.m4a", bytes) != nil)
        for (name, arguments, seconds) in [
            ("from-1.m4a", ["-ss", "1", "-i", source, "-c", "copy"], 2.0),
            ("to-2.m4a", ["-i", source, "-t", "2", "-c", "copy"], 2),
            ("later.m4a", ["-itsoffset", "2", "-i", source, "-c", "copy"], 3),
            ("of-500.m4a", ["-i", source, "-c", "copy", "-movie_timescale", "500"], 3),
            ("edited.mov", ["-ss", "1.5", "-i", source, "-c", "copy"], 1.5),
            ("long.mov", ["-i", source, "-c:a", "pcm_s16le", "-ss", "1"], 2),
        ] {
            let edited = try await Studio.shared.source(name, arguments)
            let count = try await convert(edited, Rendition(format: "wav")).result.samples
            #expect(abs(Double(count) / 44_100 - seconds) < 0.1, "\(name): \(count)")
        }
    }

    @Test func `a tag that lies behind the frames is skipped`() async throws {
        let source = try await Studio.shared.music(as: "tail.mp3", ["-write_xing", "0"])
        var bytes = try Data(contentsOf: URL(filePath: source))
        let count = try await convert(source, Rendition(format: "wav")).result.samples
        bytes += Data("APETAGEX".utf8) + Data((0..<900).map { UInt8(truncatingIfNeeded: $0 % 128) })
        let path = try Studio.shared.folder.write("tagged.mp3", bytes)
        #expect(try await convert(path, Rendition(format: "wav")).result.samples == count)
    }

    private func refusal(_ name: String, _ bytes: some Sequence<UInt8>) async throws -> MediaError? {
        await failure(try Studio.shared.folder.write(name, bytes))
    }

    @Test func `unrecognised bytes are refused`() async throws {
        let text = String(repeating: "The quick brown fox jumps over the lazy dog.\n", count: 5000)
        // The same noise each time: of some, libav takes a few bytes for a film's.
        var noise = Noise(state: 1)
        for (name, bytes) in [
            ("text.mp3", Array(text.utf8)), ("zeros.wav", [UInt8](repeating: 0, count: 100_000)),
            (
                "noise.flac",
                (0..<200_000).map { _ in UInt8(truncatingIfNeeded: noise.next()) }
            ),
            ("page.m4a", Array("<html><body>404</body></html>".utf8)),
            ("list.mp3", Array("#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n".utf8)),
            ("list.wav", Array("ffconcat version 1.0\nfile music.wav\n".utf8)),
            ("tones.mp3", Array("-SE\nallon: pink/40 200+10/30\nNOW allon\n00:03 allon\n".utf8)),
            ("lines.mp3", Array("1\n00:00:01,000 --> 00:00:02,000\nhello\n".utf8)),
        ] {
            let refused = try await refusal(name, bytes)
            guard case .unsupportedFormat = refused?.reason else {
                Issue.record("\(name): \(String(describing: refused))"); continue
            }
        }
        let picture = await failure(
            try await Studio.shared.source("picture.png", ["-f", "lavfi", "-i", "testsrc=d=0.04", "-frames:v", "1"]))
        guard case .unsupportedFormat = picture?.reason else { Issue.record("\(String(describing: picture))"); return }
    }

    @Test(arguments: [
        ("http://127.0.0.1/s\n", "a playlist (m3u)"),
        ("[playlist]\nFile1=http://127.0.0.1/s\nTitle1=x\nLength1=-1\nNumberOfEntries=1\n", "a playlist (pls)"),
        (
            "<?xml version='1.0'?>\n<!-- list -->\n<playlist version='1' xmlns='http://xspf.org/ns/0/'/>",
            "a playlist (xspf)"
        ),
        ("<ASX VERSION='3'><ENTRY><REF HREF='http://127.0.0.1/s'/></ENTRY></ASX>", "a playlist (asx)"),
        ("\u{FEFF}\n<!DOCTYPE html><title>Virus scan warning</title>", "a web page (HTML)"),
    ]) func `playlists of stations, and web pages, say what they are`(text: String, name: String) async throws {
        let refused = try await refusal("\(text.utf8.count).mp3", Array(text.utf8))
        guard case .unsupportedFormat = refused?.reason else { Issue.record("\(String(describing: refused))"); return }
        #expect("\(refused!)".contains("the source is \(name)"), "\(refused!)")
    }

    @Test func `an empty file and one without samples are corrupt`() async throws {
        let empty = try await refusal("empty.mp3", [])
        guard case .corruptMedia = empty?.reason else { Issue.record("\(String(describing: empty))"); return }
        let source = try await Studio.shared.music(as: "header.flac")
        let header = try Data(contentsOf: URL(filePath: source)).prefix(200)
        #expect(try await refusal("header-only.flac", header) != nil)
    }

    @Test func `a silent film has no audio, and another one has`() async throws {
        let film = ["-f", "lavfi", "-i", "testsrc=d=3:r=5:s=64x64"]
        let silent = await failure(try await Studio.shared.source("silent.mp4", film))
        guard case .noAudio = silent?.reason else { Issue.record("\(String(describing: silent))"); return }
        let music = try await Studio.shared.music()
        let talkie = try await Studio.shared.source("talkie.mkv", film + ["-i", music, "-c:a", "flac"])
        let converted = try await convert(talkie, Rendition(format: "wav"))
        let decoded = try await decode([music, converted.path], as: Int16.self, "s16le")
        #expect(decoded[0] == decoded[1])
    }

    @Test func `encrypted audio is protected`() async throws {
        let source = try await Studio.shared.music(
            as: "secret.mp4",
            [
                "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
                "76a6c65c5ea762046bd749a2e632ccbb",
                "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8",
            ])
        let refused = await failure(source)
        guard case .protectedContent = refused?.reason else { Issue.record("\(String(describing: refused))"); return }
    }
}
