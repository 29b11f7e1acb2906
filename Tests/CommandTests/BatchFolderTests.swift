import Foundation
import TestSupport
import Testing
import respool

/// `respool convert --output` with folders as people have them: other files, odd names, links, results of an earlier run.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct BatchFolderTests {
    private let folder: TemporaryFolder
    private let respool: RespoolProcess

    /// A short recording that all tests read, made once.
    private static let tone = Task {
        let folder = try TemporaryFolder()
        let sound = ["-f", "lavfi", "-i", "sine=440:r=44100:d=0.5", "-bitexact"]
        let outcome = try await WarmProgram.ffmpeg.run(["-v", "error"] + sound + [folder.file("tone.wav")])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return try Data(contentsOf: URL(filePath: folder.file("tone.wav")))
    }

    init() throws {
        folder = try TemporaryFolder()
        respool = RespoolProcess(folder: folder.path)
    }

    private func write(_ name: String, _ data: Data) throws {
        let path = folder.file(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try data.write(to: URL(filePath: path))
    }

    private func put(_ names: String...) async throws {
        for name in names { try write(name, try await Self.tone.value) }
    }

    /// Files without audio.
    private func note(_ names: String..., text: String = "no audio") throws {
        for name in names { try write(name, Data(text.utf8)) }
    }

    private func files(_ name: String) throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: folder.file(name)) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder.file(name)))
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: target)
    }

    /// The state of each source in a `--json` report.
    private func states(_ outcome: Outcome) throws -> [String: String] {
        var states: [String: String] = [:]
        for line in outcome.lines {
            let report = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            states[try #require(report["source"] as? String)] = report["state"] as? String
        }
        return states
    }

    // MARK: Sources that are outputs

    @Test func `no source is overwritten under another path`() async throws {
        try await put("a/x.wav", "b/x.flac")
        try link("c", to: "b")
        try FileManager.default.createDirectory(atPath: folder.file("d"), withIntermediateDirectories: true)
        try FileManager.default.linkItem(atPath: folder.file("b/x.flac"), toPath: folder.file("d/x.flac"))
        for place in ["a/../b", "c", "d"] {
            let line = ["convert", "a/x.wav", "b/x.flac", "--output", "\(place)/{stem}.flac"]
            let outcome = try await respool.run(line)
            #expect(outcome.exitCode == 2 && outcome.errors.contains("is the source 'b/x.flac'"), "\(outcome.errors)")
        }
        // The other source has another stem.
        try await put("b/y.wav")
        let outcome = try await respool.run("convert", "b/x.flac", "b/y.wav", "--output", "c/{name}", "--format", "wav")
        #expect(outcome.exitCode == 2 && outcome.errors.contains("is the source 'b/x.flac'"), "\(outcome.errors)")
        #expect(try Data(contentsOf: URL(filePath: folder.file("b/x.flac"))) == (try await Self.tone.value))
    }

    @Test func `results beside the sources are no sources of the next run`() async throws {
        try await put("music/a.wav", "music/b/c.wav")
        let line = ["convert", "-r", "music", "--output", "music/{stem}.flac", "--overwrite", "skip", "--json"]
        let first = try await respool.run(line)
        #expect(first.exitCode == 0, "\(first.errors)")
        #expect(try states(first) == ["music/a.wav": "completed", "music/b/c.wav": "completed"])
        let second = try await respool.run(line)
        #expect(second.exitCode == 0, "\(second.errors)")
        #expect(try states(second) == ["music/a.wav": "skipped", "music/b/c.wav": "skipped"])
        // Without --overwrite, the files may be originals.
        let third = try await respool.run("convert", "-r", "music", "--output", "music/{stem}.flac")
        #expect(third.exitCode == 2 && third.errors.contains("add --overwrite skip"), "\(third.errors)")
    }

    // MARK: Other files

    @Test func `files beside a song do not collide with it`() async throws {
        try await put("m/01 Song.wav", "m/film")
        try note("m/01 Song.lrc", "m/01 Song.cue", "m/01 Song.txt", "m/cover.jpg", "m/cover.png", "m/film.idx")
        try note("m/empty.txt", text: "")
        try note("m/list.m3u8", text: "#EXTM3U\n")
        let line = ["convert", "-r", "m", "--output", "out/{stem}.flac", "--json"]
        let outcome = try await respool.run(line)
        #expect(outcome.exitCode == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(try files("out") == ["01 Song.flac", "film.flac"])
        var states = try states(outcome)
        #expect(states.removeValue(forKey: "m/01 Song.wav") == "completed")
        #expect(states.removeValue(forKey: "m/film") == "completed")
        #expect(states.count == 8 && states.values.allSatisfy { $0 == "ignored" }, "\(states)")
        // What an earlier run has made is left alone, whichever source it was made of.
        let again = try await respool.run(line + ["--overwrite", "skip"])
        #expect(again.exitCode == 0 && again.errors == "", "\(again.errors)")
    }

    @Test func `an empty file with the name of audio is a failure`() async throws {
        try note("m/empty.wav", text: "")
        let outcome = try await respool.run("convert", "-r", "m", "--output", "out/{stem}.flac", "--json")
        #expect(outcome.exitCode == 1)
        #expect(try states(outcome) == ["m/empty.wav": "failed"])
    }

    // MARK: Names

    @Test(arguments: [150, 250])
    func `long names that differ at their end have an output each`(common: Int) async throws {
        let names = (1...3).map { String(repeating: "x", count: common) + "\($0)" }
        try await put("m/\(names[0]).wav", "m/\(names[1]).wav", "m/\(names[2]).wav")
        let line = ["convert", "-r", "m", "--output", "out/{stem}.flac", "--overwrite", "skip", "--json"]
        let outcome = try await respool.run(line)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try files("out").count == 3)
        // A second run finds the outputs of the first.
        #expect(try states(try await respool.run(line)).values.allSatisfy { $0 == "skipped" })
    }

    @Test func `names that are not UTF-8 are failures`() async throws {
        try await put("m/good.wav", "spare.wav")
        let script = #"mkdir "$(printf 'm/gr\374n')"; cp spare.wav "$(printf 'm/gr\374n.wav')""#
        #expect(try await ChildProcess.run("sh", ["-c", script], folder: folder.path).exitCode == 0)
        let outcome = try await respool.run("convert", "-r", "m", "--output", "out/{stem}.flac", "--json")
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("is not UTF-8"), "\(outcome.errors)")
        let states = try states(outcome)
        #expect(states == ["m/good.wav": "completed", "m/gr\u{FFFD}n": "failed", "m/gr\u{FFFD}n.wav": "failed"])
    }

    @Test func `names that differ in the composition of accents are different files`() async throws {
        try await put("m/\u{E9}.wav", "m/e\u{301}.wav")
        let outcome = try await respool.run("convert", "-r", "m", "--output", "out/{stem}.flac")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try files("out").count == 1)  // Equal as strings of Swift.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).count == 2)
    }

    @Test func `names with a tab or a newline are converted`() async throws {
        try await put("m/a\tb.wav", "m/c\nd.wav")
        let outcome = try await respool.run("convert", "-r", "m", "--output", "out/{stem}.flac")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try files("out") == ["a_b.flac", "c_d.flac"])
        let single = try await respool.run("convert", "m/a\tb.wav", "x.flac")
        #expect(single.exitCode == 1 && single.errors.contains("control characters"), "\(single.errors)")
    }

    @Test func `the stem of a long name has no extension`() async throws {
        // The cut is behind the first dot and before the last one.
        let long = "No. 5 " + String(repeating: "x", count: 245)
        try await put("\(long).wav")
        let outcome = try await respool.run("convert", "\(long).wav", "--output", "out/{stem}.flac")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        // 255 bytes: the digest of the name has 16.
        let name = try #require(try files("out").first)
        #expect(name.utf8.count == 255 && name.hasPrefix(long.prefix(233) + "-") && name.hasSuffix(".flac"), "\(name)")
    }

    // MARK: Folders

    @Test func `an output folder may be a link, or lie behind one`() async throws {
        try await put("a.wav")
        try FileManager.default.createDirectory(atPath: folder.file("real"), withIntermediateDirectories: true)
        try link("link", to: "real")
        for place in ["link", "link/deep"] {
            let outcome = try await respool.run("convert", "a.wav", "--output", "\(place)/{stem}.flac")
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
        }
        #expect(try files("real") == ["a.flac", "deep"])
        #expect(try files("real/deep") == ["a.flac"])
    }

    @Test func `braces in the current folder are no placeholders`() async throws {
        try await put("{stem} {x}/a.wav")
        let inside = RespoolProcess(folder: folder.file("{stem} {x}"))
        for place in [".", "out/", "{ext}/{stem}.{ext}", "b.{ext}"] {
            let outcome = try await inside.run("convert", "a.wav", "--output", place, "--format", "flac")
            #expect(outcome.exitCode == 0, "\(outcome.errors)")
        }
        #expect(try files("{stem} {x}") == ["a.wav", "a.flac", "out", "flac", "b.flac"])
        #expect(try files("{stem} {x}/flac") == ["a.flac"])
    }

    @Test func `a folder that cannot be read is a failure, and the others are converted`() async throws {
        try await put("m/a.wav", "m/locked/b.wav", "m/z/c.wav")
        let path = folder.file("m/locked")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path) }
        // Root reads every folder; without its capabilities it is like any user.
        let words = ["--bounding-set", "-all", "--inh-caps", "-all", Programs.path("respool")]
        let line = ["convert", "-r", "m", "--output", "out/{stem}.flac", "--json"]
        let outcome =
            geteuid() == 0
            ? try await ChildProcess.run(
                "setpriv", words + line, environment: respool.environment, folder: folder.path)
            : try await respool.run(line)
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("cannot be read: Permission denied"), "\(outcome.errors)")
        let states = try states(outcome)
        #expect(states == ["m/a.wav": "completed", "m/z/c.wav": "completed", "m/locked/": "failed"])
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/sys")))
    func `an output folder that cannot be created is reported with the reason`() async throws {
        try await put("a.wav")
        let outcome = try await respool.run("convert", "a.wav", "--output", "/sys/respool-test/{stem}.flac")
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("cannot be created: "), "\(outcome.errors)")
        #expect(!outcome.errors.contains("No such file"), "\(outcome.errors)")
    }

    // MARK: Reports

    /// The lines that a terminal shows in the end.
    private func screen(_ output: String) -> [String] {
        var (lines, row) = ([""], 0)
        var rest = Substring(output.replacing("\r\n", with: "\n"))
        while let next = rest.popFirst() {
            switch next {
            case "\u{1b}":
                let sequence = rest.prefix { !$0.isLetter }
                rest = rest.dropFirst(sequence.count)
                switch rest.popFirst() {
                case "A": row = max(row - (Int(sequence.dropFirst()) ?? 1), 0)
                case "J": lines = lines[..<row] + [""]
                default: break
                }
            case "\r": break
            case "\n":
                row += 1
                if row == lines.count { lines.append("") }
            default: lines[row].append(next)
            }
        }
        return lines
    }

    @Test func `JSON on a terminal is not damaged by bars`() async throws {
        try await put("a.wav")
        let sound = ["-f", "lavfi", "-i", "anoisesrc=a=0.1:r=44100:d=60", folder.file("long.wav")]
        #expect(try await WarmProgram.ffmpeg.run(["-v", "error"] + sound).succeeded)
        let sources = (1...8).map { "\($0).wav" }
        for source in sources { try await put(source) }
        let outcome = try await respool.runOnTerminal(
            ["convert", "long.wav"] + sources + ["--output", "out/{stem}.opus", "--slots", "2", "--json"], columns: 100)
        #expect(outcome.exitCode == 0, "\(outcome.output)")
        #expect(outcome.output.contains("long.wav → opus"))
        let shown = screen(outcome.output)
        for source in sources + ["long.wav"] {
            #expect(shown.contains { $0.hasPrefix("{\"") && $0.contains("\"source\":\"\(source)\"") }, "\(source)")
        }
    }
}
