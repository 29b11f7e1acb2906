import Foundation
import TestSupport
import Testing

/// Sources and places as people type them.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LocalSourceTests {
    private let folder: TemporaryFolder
    private let respool: RespoolProcess

    init() throws {
        folder = try TemporaryFolder()
        respool = RespoolProcess(folder: folder.path)
    }

    private func make(_ arguments: [String]) async throws {
        let outcome = try await WarmProgram.ffmpeg.run(["-v", "error"] + arguments, folder: folder.path)
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    private func tone(_ name: String) async throws {
        try await make(["-f", "lavfi", "-i", "sine=d=0.5:r=48000", "-bitexact", name])
    }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(path)).sorted()
    }

    @Test(arguments: [
        "mkfifo p; cat tone.wav > p & $0 convert p out.wav", "$0 convert <(cat tone.wav) out.wav",
        "$0 convert /dev/fd/3 out.wav 3< tone.wav", "cat tone.wav | $0 convert /dev/stdin out.wav",
    ])
    func `convert reads a file that only its own process can open`(line: String) async throws {
        try await tone("tone.wav")
        let outcome = try await ChildProcess.run(
            "bash", ["-c", line, Programs.path("respool")], environment: respool.environment, folder: folder.path)
        #expect(outcome.exitCode == 0 && outcome.errors == "", "\(outcome.errors)")
        let (source, result) = (folder.file("tone.wav"), folder.file("out.wav"))
        let samples = try [source, result].map { try Data(contentsOf: URL(filePath: $0)).suffix(48_000) }
        #expect(samples[0].count == 48_000 && samples[0].elementsEqual(samples[1]))
        let probed = try await ChildProcess.run(
            "bash",
            ["-c", line.replacing("convert", with: "probe").replacing("out.wav", with: ""), Programs.path("respool")],
            environment: respool.environment, folder: folder.path)
        #expect(probed.exitCode == 0 && probed.output.contains("(0.500 s)"), "\(probed.errors)")
    }

    /// As root, it is another user, who has no spool folder.
    @Test(
        .enabled(if: geteuid() == 0),
        arguments: [
            ("$0 convert tone.wav out.wav", 0, false), ("$0 probe tone.wav", 1, false),
            ("$0 convert tone.wav -o x.wav", 2, false), ("cat tone.wav | $0 probe -", 3, true),
            ("$0 convert tone.wav - --format wav | cat", 4, true), ("$0 probe list", 5, true),
        ])
    func `the spool folder is made for a command that uses it, and no other`(
        line: String, number: Int, isMade: Bool
    ) async throws {
        try await tone("tone.wav")
        try folder.write("list", text: "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\ntone.wav\n#EXT-X-ENDLIST\n")
        chmod(folder.path, 0o777)
        let user = 60_000 + Int(getpid()) % 5000 + 5000 * number
        let spool = "/tmp/respool-\(user)"
        defer { rmdir(spool) }
        let words = ["--reuid", "\(user)", "--regid", "\(user)", "--clear-groups", "bash", "-c", line]
        let outcome = try await ChildProcess.run(
            "setpriv", words + [Programs.path("respool")], environment: respool.environment, folder: folder.path)
        if !isMade { #expect(outcome.exitCode == 0, "\(outcome.errors)") }
        #expect(FileManager.default.fileExists(atPath: spool) == isMade, "\(outcome.errors)")
    }

    @Test func `all outputs go to the folder that is named beside them`() async throws {
        try await tone("tone.wav")
        try FileManager.default.createDirectory(atPath: folder.file("made/low"), withIntermediateDirectories: true)
        let outputs = #"[{"output":"low/a.mp3"},{"format":"flac"},{"output":"\#(folder.file("b.opus"))"}]"#
        let outcome = try await respool.run("convert", "tone.wav", "made", "--outputs", outputs)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try names("made") == ["low", "tone.flac"] && names("made/low") == ["a.mp3"])
        #expect(FileManager.default.fileExists(atPath: folder.file("b.opus")))
    }

    @Test(arguments: [
        ("tone.wav", "'tone.wav' is not a folder"), ("none", "the folder 'none' cannot be used: No such"),
    ])
    func `a destination that is no folder is refused beside --outputs`(place: String, sentence: String) async throws {
        try await tone("tone.wav")
        let outcome = try await respool.run("convert", "tone.wav", place, "--outputs", #"[{"output":"a.mp3"}]"#)
        #expect(outcome.exitCode == 2 && outcome.errors.contains(sentence), "\(outcome.errors)")
        #expect(try names("") == ["tone.wav"])
    }

    @Test func `audio tracks are numbered as --track counts them, with their languages and titles`() async throws {
        try await make([
            "-f", "lavfi", "-i", "color=d=0.5:s=16x16", "-f", "lavfi", "-i", "sine=d=0.5", "-f", "lavfi", "-i",
            "anullsrc=d=0.5:cl=mono:r=32000", "-map", "0", "-map", "1", "-map", "2", "-c:v", "mpeg4", "-c:a", "flac",
            "-shortest", "-metadata:s:1", "language=eng", "-metadata:s:2", "language=ger", "-metadata:s:2",
            "title=Regie",
            "-disposition:1", "0", "-disposition:2", "default", "two.mka",
        ])
        let text = try await respool.run("probe", "two.mka")
        #expect(text.output.contains("track 1    flac, 44100 Hz"), "\(text.output)")
        #expect(text.output.contains("ger, Regie, default"), "\(text.output)")
        let json = try await respool.run("probe", "two.mka", "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        #expect(
            tracks.map { $0["number"] as? Int } == [1, 2] && tracks.map { $0["default"] as? Bool } == [false, true])
        #expect(tracks[1]["title"] as? String == "Regie" && tracks[1]["language"] as? String == "ger")
        for code in ["2", "ger", "deu", "de", "de-AT", "GER"] {
            let outcome = try await respool.run("convert", "two.mka", "\(code).wav", "--track", code, "--json")
            #expect(outcome.output.contains(#""sample_rate":32000"#), "\(code): \(outcome.errors)")
        }
        let missing = try await respool.run("convert", "two.mka", "x.wav", "--track", "ge")
        #expect(missing.exitCode == 1 && missing.errors.contains("no audio track in language 'ge'"))
    }

    @Test func `the reported length of an MP3 with a picture is its length after conversion`() async throws {
        try await make(["-f", "lavfi", "-i", "color=red:s=32x32", "-frames:v", "1", "cover.png"])
        try await make([
            "-f", "lavfi", "-i", "sine=d=0.5:r=44100", "-i", "cover.png", "-map", "0", "-map", "1", "-c:v", "copy",
            "-disposition:v", "attached_pic", "song.mp3",
        ])
        let json = try await respool.run("probe", "song.mp3", "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(report["seconds"] as? Double == 0.5 && (report["pictures"] as? [Any])?.count == 1, "\(json.output)")
    }

    @Test func `a name that ends in m4b makes an audiobook`() async throws {
        try await tone("tone.wav")
        let outcome = try await respool.run("convert", "tone.wav", "book.m4b", "--json")
        #expect(outcome.exitCode == 0 && outcome.output.contains(#""format":"m4b""#), "\(outcome.errors)")
        #expect(try Data(contentsOf: URL(filePath: folder.file("book.m4b")))[4..<12] == Data("ftypM4B ".utf8))
        let told = try await ChildProcess.run("file", ["--brief", folder.file("book.m4b")])
        #expect(told.output.contains("Audio Book") || told.output.contains("Audiobook"), "\(told.output)")
    }
}
