import Foundation
import TestSupport
import Testing
import respool

/// `respool convert --output`: many sources in one call, without Redis.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct BatchConversionTests {
    private let folder: TemporaryFolder
    private let respool: RespoolProcess

    /// Two short recordings and a long one that all tests read, made once.
    private static let originals = Task {
        let folder = try TemporaryFolder()
        for (name, seconds) in [("one.wav", 1), ("two.wav", 2), ("long.wav", 60)] {
            let noise = ["-f", "lavfi", "-i", "anoisesrc=a=0.1:r=44100:d=\(seconds):seed=\(seconds)", "-bitexact"]
            let outcome = try await WarmProgram.ffmpeg.run(["-v", "error"] + noise + [folder.file(name)])
            try #require(outcome.succeeded, "\(outcome.errors)")
        }
        return folder
    }

    init() throws {
        folder = try TemporaryFolder()
        respool = RespoolProcess(folder: folder.path)
    }

    private func put(_ original: String, at name: String) async throws {
        let path = folder.file(name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: try await Self.originals.value.file(original), toPath: path)
    }

    private func write(_ name: String, text: String) throws {
        let path = (folder.file(name) as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try folder.write(name, text: text)
    }

    /// The files in and below a folder, hidden ones included.
    private func files(_ name: String = ".") throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.file(name)) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.file(name)).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder.file("\(name)/\($0)"), isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    private func seconds(_ name: String) async throws -> Double? {
        let words = ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", folder.file(name)]
        let output = try await WarmProgram.ffprobe.run(words).standardOutput
        return Double(String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func reports(_ outcome: Outcome) throws -> [String: [String: Any]] {
        var reports: [String: [String: Any]] = [:]
        for line in outcome.lines {
            let report = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            reports[try #require(report["source"] as? String)] = report
        }
        return reports
    }

    @Test func `every operand is converted to the location of the template`() async throws {
        try await put("one.wav", at: "one.wav")
        try await put("two.wav", at: "deep/two.x.wav")
        let outcome = try await respool.run(
            "convert", "one.wav", "deep/two.x.wav", "--output", "out/{ext}/{stem}.{ext}", "--format", "flac")
        #expect(outcome.exitCode == 0 && outcome.output == "" && outcome.errors == "", "\(outcome.errors)")
        #expect(try files("out") == ["flac/one.flac", "flac/two.x.flac"])
        #expect(try await seconds("out/flac/one.flac") == 1)
        #expect(try await seconds("out/flac/two.x.flac") == 2)
    }

    @Test func `a folder keeps its tree and files without audio are ignored`() async throws {
        try await put("one.wav", at: "in/one.wav")
        try await put("two.wav", at: "in/a/{b}/two.wav")
        try write("in/a/notes.txt", text: "no audio")
        try write("in/.hidden.wav", text: "no audio")
        let line = ["convert", "in", "--recursive", "--output", "in/out/{stem}.mp3", "--json"]
        let outcome = try await respool.run(line)
        #expect(outcome.exitCode == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(try files("in/out") == ["a/{b}/two.mp3", "one.mp3"])
        let found = try reports(outcome)
        #expect(
            found.mapValues { $0["state"] as? String } == [
                "in/one.wav": "completed", "in/a/{b}/two.wav": "completed", "in/a/notes.txt": "ignored",
            ])
        let report = try #require((found["in/one.wav"]?["outputs"] as? [[String: Any]])?.first)
        #expect(report["duration"] as? Double == 1 && report["format"] as? String == "mp3")
        // The results are below the folder, and are no sources of another run.
        #expect(try reports(try await respool.run(line)).count == 3)
    }

    @Test func `failures are counted and the other sources are converted`() async throws {
        try await put("one.wav", at: "in/one.wav")
        try write("in/bad.flac", text: "this is no audio")
        try write("in/cover.jpg", text: "this is no picture")
        let outcome = try await respool.run(
            "convert", "-r", "in", "missing.wav", "--output", "out/", "--format", "opus", "--json", "--slots", "2")
        #expect(outcome.exitCode == 1)
        #expect(try files("out") == ["one.opus"])
        let found = try reports(outcome)
        #expect(
            found.mapValues { $0["state"] as? String } == [
                "in/one.wav": "completed", "in/bad.flac": "failed", "in/cover.jpg": "ignored", "missing.wav": "failed",
            ])
        #expect((found["missing.wav"]?["error"] as? [String: Any])?["code"] as? String == "source_not_found")
        let errors = outcome.errors.split(separator: "\n").sorted()
        #expect(errors.count == 3, "\(errors)")
        #expect(errors.contains { $0.hasPrefix("respool: in/bad.flac: ") })
        #expect(errors.contains { $0.hasPrefix("respool: missing.wav: ") })
        #expect(
            errors.contains(
                "respool: 4 files: 1 completed, 1 ignored, 2 failed (source_not_found 1, unsupported_format 1)"))
    }

    @Test func `what exists is left out without being read`() async throws {
        try await put("one.wav", at: "one.wav")
        try write("two.wav", text: "this is no audio")
        try write("out/two.mp3", text: "old")
        let line = ["convert", "one.wav", "two.wav", "--output", "out/{stem}.mp3", "--overwrite", "skip", "--json"]
        let outcome = try await respool.run(line)
        #expect(outcome.exitCode == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(
            try reports(outcome).mapValues { $0["state"] as? String } == ["one.wav": "completed", "two.wav": "skipped"])
        #expect(try String(contentsOfFile: folder.file("out/two.mp3"), encoding: .utf8) == "old")
        #expect(try reports(try await respool.run(line)).values.allSatisfy { $0["state"] as? String == "skipped" })
    }

    @Test func `two sources with one output are refused before anything starts`() async throws {
        try await put("one.wav", at: "a/x.wav")
        try await put("two.wav", at: "b/x.flac")
        let outcome = try await respool.run("convert", "a/x.wav", "b/x.flac", "--output", "out/{stem}.mp3")
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains("'a/x.wav' and 'b/x.flac' have the same output"), "\(outcome.errors)")
        #expect(outcome.errors.contains("/out/x.mp3'"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    }

    @Test(arguments: [
        (["a/x.wav", "--output", "a/{stem}.wav"], "the output of 'a/x.wav' is the source 'a/x.wav'"),
        (["a", "--output", "out/{stem}.mp3"], "'a' is a folder: add --recursive"),
        (["a/x.wav", "-", "--output", "out/{stem}.mp3"], "'-' is a pipe"),
        (["a/x.wav", "--output", "out/{stem}.{ext}"], "does not determine the format"),
        (["a/x.wav", "--output", "out/{id}.mp3"], "--output has {id}"),
        (["a/x.wav", "--output", "out/{nope}.mp3"], "unknown template `{nope}`"),
        (["a/x.wav", "b.mp3", "--slots", "2"], "--slots requires --output"),
        (["a", "-r", "b.mp3"], "--recursive requires --output"),
        (["a/x.wav", "--output", "out/{stem}.mp3", "--slots", "0"], "--slots is '0'"),
        (["a/x.wav", "--output", "b.mp3", "--outputs", "[]"], "--output and --outputs are mutually exclusive"),
    ])
    func `wrong usage is answered with what to do`(words: [String], answer: String) async throws {
        try await put("one.wav", at: "a/x.wav")
        let outcome = try await respool.run(["convert"] + words)
        #expect(outcome.exitCode == 2 && outcome.errors.contains(answer), "\(outcome.errors)")
        #expect(try files() == ["a/x.wav"])
    }

    @Test func `many files share few pairs of children`() async throws {
        var sources: [String] = []
        for number in 1...12 {
            try await put("one.wav", at: "\(number).wav")
            sources.append("\(number).wav")
        }
        let command = "strace -f -qq -e trace=execve -o trace \"$0\" \"$@\""
        let outcome = try await ChildProcess.run(
            "sh",
            ["-c", command, Programs.path("respool"), "convert"] + sources + [
                "--output", "out/{stem}.flac", "-s", "2",
            ],
            environment: respool.environment, folder: folder.path)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(try files("out").count == 12)
        let trace = try String(contentsOfFile: folder.file("trace"), encoding: .utf8)
        // The line of a call during which another one is traced has no result.
        let pairs = trace.split(separator: "\n").filter { $0.contains("respool-transcode\"") && !$0.contains("= -1") }
        #expect(pairs.count == 2, "\(trace)")
    }

    @Test func `an interrupted batch leaves no partial file`() async throws {
        for name in ["a.wav", "b.wav", "c.wav"] { try Sounds.writeSilence(to: folder.file(name)) }
        let child = try await ChildProcess(
            Programs.path("respool"),
            ["convert", "a.wav", "b.wav", "c.wav", "--output", "out/{stem}.m4a", "--slots", "2"],
            environment: respool.environment, folder: folder.path)
        try await child.isConverting(2, in: folder)
        child.kill(SIGINT)
        #expect(await child.wait().exitCode == 128 + SIGINT)
        #expect(try files("out") == [])
    }

    @Test func `a terminal shows a bar for each conversion and a total`() async throws {
        for name in ["a.wav", "b.wav"] { try await put("long.wav", at: name) }
        try write("bad.wav", text: "this is no audio")
        let outcome = try await respool.runOnTerminal(
            ["convert", "bad.wav", "a.wav", "b.wav", "--output", "out/{stem}.opus", "--slots", "2"])
        #expect(outcome.exitCode == 1)
        for text in [
            "a.wav → opus", "b.wav → opus", "3 files", "1 failed", "respool: bad.wav: ",
            "2 completed, 1 failed",
        ] {
            #expect(outcome.output.contains(text), "\(text) in \(outcome.output)")
        }
    }
}
