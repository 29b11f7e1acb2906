import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import respool

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ConvertTests {
    private let folder: TemporaryFolder
    private let respool: RespoolProcess
    private let programme: String

    /// Three minutes of noise that all tests read, made once, in which no two parts are the same.
    private static let original = Task {
        let folder = try TemporaryFolder()
        let noise = ["-f", "lavfi", "-i", "anoisesrc=a=0.1:r=44100:d=180:seed=1", "-ac", "2", "-bitexact"]
        let outcome = try await WarmProgram.ffmpeg.run(["-v", "error"] + noise + [folder.file("programme.wav")])
        try #require(outcome.succeeded, "\(outcome.errors)")
        return folder
    }

    init() async throws {
        folder = try TemporaryFolder()
        respool = RespoolProcess(folder: folder.path)
        programme = folder.file("programme.wav")
        let original = try await Self.original.value.file("programme.wav")
        try FileManager.default.linkItem(atPath: original, toPath: programme)
    }

    /// The bytes of 16-bit stereo samples at 44.1 kHz between two seconds, behind a header of 44 bytes.
    private func samples(_ start: Int, _ end: Int) throws -> Data {
        let file = try Data(contentsOf: URL(filePath: programme))
        return file[(44 + start * 176_400)..<(44 + end * 176_400)]
    }

    /// A file or bytes as ffmpeg decodes them.
    private func decoded(_ path: String) async throws -> [UInt8] {
        try await WarmProgram.ffmpeg.run(["-v", "error", "-i", path, "-f", "s16le", "-"]).standardOutput
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(arguments: ["wav", "flac", "aiff", "alac"])
    func `a range is converted exactly and its file is named in a folder`(format: String) async throws {
        try FileManager.default.createDirectory(atPath: folder.file("parts"), withIntermediateDirectories: false)
        let outcome = try await respool.run(
            "convert", "programme.wav", "parts", "--to", format, "--start", "0:10", "--end", "0:13", "--json")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.errors == "")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        #expect(report["duration"] as? Double == 3)
        #expect(try await decoded(try #require(report["url"] as? String)).count == 3 * 176_400)
    }

    @Test(arguments: [["a.flac", "b.wav"], ["a.wav", "b.wav", "c.flac"]])
    func `a conversion without a thread that it needs fails with that reason`(operands: [String]) async throws {
        let library = folder.file("no-threads.so")
        try await CompiledProgram.make(library, of: "no-threads.c", ["-shared", "-fPIC"])
        try await folder.copy(ofProgram: "respool")
        symlink(Programs.path("respool-transfer"), folder.file("respool-transfer"))
        try await folder.script(
            "respool-transcode", "LD_PRELOAD=\(library) exec \(Programs.path("respool-transcode")) \"$@\"")
        _ = try await WarmProgram.ffmpeg.run(["-v", "error", "-i", programme, "-t", "1", folder.file(operands[0])])
        func convert(_ operands: [String]) async throws -> Outcome {
            try await ChildProcess.run(
                folder.file("respool"), ["convert"] + operands, environment: respool.environment, folder: folder.path)
        }
        let outcome = try await convert(operands)
        #expect(outcome.exitCode == 1 && outcome.errors.contains("no thread could be started"), "\(outcome.errors)")
        // One that needs none.
        #expect(try await convert(["programme.wav", "d.wav", "--duration", "1"]).exitCode == 0)
    }

    @Test func `convert takes every field of a job that needs no queue`() {
        let queue = [
            "output", "priority", "delay", "not-before", "attempts", "timeout", "expires", "deadline", "dedup",
            "group",
            "limit-key", "callback", "traceparent",
        ]
        let missing = Set(FieldOptions.all.map(\.name)).subtracting(FieldOptions.conversion.map(\.name))
        #expect(missing == Set(queue))
    }

    @Test func `flags set tags and a channel layout`() async throws {
        let outcome = try await respool.run(
            "convert", "programme.wav", "tagged.flac", "--duration", "1", "--metadata", #"{"title":"Überall"}"#,
            "--channel-layout", "mono", "--damage", "accept", "--track", "1")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let title = try await WarmProgram.ffprobe.run(
            ["-v", "error", "-show_entries", "format_tags=title", "-of", "csv=p=0", folder.file("tagged.flac")])
        #expect(String(decoding: title.standardOutput, as: UTF8.self) == "Überall\n")
    }

    @Test func `standard output gets the same bytes as a file`() async throws {
        let words = ["--to", "wav", "--start", "10", "--duration", "2"]
        let stream = try await respool.run(["convert", programme, "-"] + words)
        #expect(stream.exitCode == 0, "\(stream.errors)")
        let file = try await respool.run(["convert", programme, "part.wave"] + words.dropFirst(2))
        #expect(file.exitCode == 0 && file.output == "" && file.errors == "")
        #expect(Data(stream.standardOutput) == (try Data(contentsOf: URL(filePath: folder.file("part.wave")))))
        #expect(Data(try await decoded(folder.file("part.wave"))) == (try samples(10, 12)))
    }

    @Test func `standard input is read from a pipe and from a file`() async throws {
        for line in ["cat programme.wav | $0 convert", "$0 convert < programme.wav"] {
            let parts = line.split(separator: "<", maxSplits: 1)
            let command = "\(parts[0]) - in.flac --start 10 --duration 2" + (parts.count > 1 ? " <\(parts[1])" : "")
            let outcome = try await ChildProcess.run(
                "sh", ["-c", command, Programs.path("respool")], environment: respool.environment, folder: folder.path)
            #expect(outcome.exitCode == 0 && outcome.errors == "", "\(outcome.errors)")
            #expect(Data(try await decoded(folder.file("in.flac"))) == (try samples(10, 12)))
        }
    }

    @Test func `convert ends silently when the reader of its result is gone`() async throws {
        let outcome = try await ChildProcess.run(
            "sh",
            [
                "-c", "{ $0 convert programme.wav - --format wav; echo $? >&2; } | head -c 100",
                Programs.path("respool"),
            ],
            environment: respool.environment, folder: folder.path)
        #expect(outcome.errors == "1\n")
    }

    @Test func `an existing file is replaced only when the new one is complete`() async throws {
        try folder.write("out.mp3", text: "old")
        try folder.write("text.mp3", text: "this is no audio")
        for source in ["text.mp3", "missing.mp3"] {
            let outcome = try await respool.run("convert", source, "out.mp3")
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.hasPrefix("respool: \(source): "))
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(try String(contentsOfFile: folder.file("out.mp3"), encoding: .utf8) == "old")
        }
        #expect(try await respool.run("convert", "programme.wav", "out.mp3", "--end", "1").exitCode == 0)
        #expect(try await decoded(folder.file("out.mp3")).count == 176_400)
        #expect(try names() == ["out.mp3", "programme.wav", "text.mp3"])
    }

    @Test func `errors keep the secrets of a URL out`() async throws {
        for words in [["convert", "out.mp3"], ["probe"]] {
            let outcome = try await respool.run(
                [words[0], "http://me:secret@127.0.0.1:1/a.mp3?sig=hidden"] + words.dropFirst())
            #expect(outcome.exitCode == 1)
            #expect(outcome.errors.hasPrefix("respool: http://127.0.0.1:1/a.mp3?…: "))
            #expect(!outcome.errors.contains("secret") && !outcome.errors.contains("hidden"))
        }
    }

    @Test(arguments: [["convert", "nope.flac", "out.mp3"], ["probe", "nope.flac"]])
    func `a failure is JSON if JSON was requested`(words: [String]) async throws {
        let outcome = try await respool.run(words + ["--json"])
        #expect(outcome.exitCode == 1 && outcome.lines.count == 1, "\(outcome.output)")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let error = try #require(report["error"] as? [String: Any])
        #expect(report["source"] as? String == "nope.flac" && error["code"] as? String == "source_not_found")
        #expect(error["retryable"] as? Bool == false && (error["message"] as? String)?.contains("nope.flac") == true)
        #expect(outcome.errors.hasPrefix("respool: nope.flac: "))
        let plain = try await respool.run(words)
        #expect(plain.output == "" && plain.exitCode == 1)
        // The result's own bytes are never mixed with it.
        #expect(try await respool.run("convert", "nope.flac", "-", "--format", "wav", "--json").output == "")
    }

    @Test func `reports have numbers as numbers and names as text`() async throws {
        let outcome = try await respool.run(
            "convert", "programme.wav", "out.ac3", "--end", "2", "--json", "--gain", "-6", "--sample-rate", "48000")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let settings = try #require(report["settings"] as? [String: [String: Any]])
        #expect(
            settings["sample_rate"]?["requested"] as? Int == 48000 && settings["channels"]?["effective"] as? Int == 2)
        #expect(settings["bit_rate"]?["effective"] is Int && settings["gain"]?["requested"] as? Double == -6)
        #expect(settings["codec"]?["effective"] as? String == "ac3")
        #expect(settings["channel_layout"]?["effective"] as? String == "stereo")
        let probe = try await respool.run("probe", "out.ac3", "--json").output
        let tracks = (try JSONSerialization.jsonObject(with: Data(probe.utf8)) as? [String: Any])?["tracks"]
        #expect((tracks as? [[String: Any]])?.first?["seconds"] is Double)
    }

    @Test func `formats lists one format by its name`() async throws {
        let lines = try await respool.run("formats", "mp3").lines
        #expect(lines.count == 4 && lines[1].hasPrefix("mp3 ") && lines[3].hasPrefix("mp3 "), "\(lines)")
        #expect(try await respool.run("formats", "mp3", "wav", "--json").lines.count == 2)
        #expect(try await respool.run("formats", "adts").lines[3].contains(" 0.1 to 2"))
    }

    @Test func `convert does not overwrite its own source`() async throws {
        let outcome = try await respool.run("convert", "programme.wav", ".", "--to", "wav", "--end", "1")
        #expect(outcome.exitCode == 2 && outcome.errors.contains("'.' is the source itself"))
    }

    @Test func `convert writes no audio to a terminal`() async throws {
        let outcome = try await respool.runOnTerminal(["convert", "programme.wav", "-", "--to", "mp3"])
        #expect(outcome.exitCode == 2 && outcome.output.contains("standard output is a terminal"), "\(outcome.output)")
    }

    @Test func `convert posts to a URL that a flag names`() async throws {
        let url = "http://127.0.0.1:\(try LoopbackPort.free())/out.wav"
        let outcome = try await respool.run(
            "convert", "programme.wav", url, "--end", "1", "--output-method", "POST", "--allow-output-host", "127.0.0.1"
        )
        // Nobody is there, which only who goes there hears.
        #expect(outcome.exitCode == 1 && outcome.errors.contains("is unreachable"), "\(outcome.errors)")
    }

    @Test func `an existing file stays if it may not be replaced`() async throws {
        try folder.write("out.wav", text: "old")
        var outcome = try await respool.run("convert", "programme.wav", "out.wav", "--overwrite", "skip", "--json")
        #expect(outcome.exitCode == 0 && outcome.errors.contains("exists and was not replaced"), "\(outcome.errors)")
        #expect(outcome.output.contains(#""code":"output_skipped""#) && outcome.output.contains(#""sha256":null"#))
        outcome = try await respool.run("convert", "programme.wav", "out.wav", "new.wav", "--overwrite", "fail")
        #expect(outcome.exitCode == 1 && outcome.errors.contains("out.wav' exists"), "\(outcome.errors)")
        #expect(try names() == ["out.wav", "programme.wav"])
        #expect(try String(contentsOfFile: folder.file("out.wav"), encoding: .utf8) == "old")
    }

    @Test func `an interrupted conversion leaves nothing behind`() async throws {
        try Sounds.writeSilence(to: folder.file("silence.wav"))
        let child = try await ChildProcess(
            Programs.path("respool"), ["convert", "silence.wav", "out.m4a"], environment: respool.environment,
            folder: folder.path)
        try await child.isConverting(1, in: folder)
        child.kill(SIGINT)
        #expect(await child.wait().exitCode == 128 + SIGINT)
        #expect(try names() == ["programme.wav", "silence.wav"])
    }

    @Test func `the progress bar is drawn on a terminal only`() async throws {
        let outcome = try await respool.runOnTerminal(["convert", programme, folder.file("out.opus"), "--end", "1:00"])
        #expect(outcome.exitCode == 0, "\(outcome.output)")
        #expect(outcome.output.contains("programme.wav → opus") && outcome.output.contains("\u{1b}["))
        #expect(outcome.output.contains("out.opus"))
        let plain = RespoolProcess(environment: ["NO_COLOR": "1", "LC_ALL": "C"])
        let ascii = try await plain.runOnTerminal(["convert", programme, folder.file("out.opus"), "--end", "1:00"])
        #expect(ascii.exitCode == 0)
        #expect(ascii.standardOutput.allSatisfy { $0 < 0x80 })
        #expect(!ascii.output.contains("\u{1b}[3"))
    }

    @Test func `probe describes a source`() async throws {
        let text = try await respool.run("probe", "programme.wav")
        #expect(text.exitCode == 0, "\(text.errors)")
        #expect(text.output.contains("3:00 (180.000 s)") && text.output.contains("44100 Hz, 2 ch (stereo)"))
        let json = try await respool.run("probe", programme, "--json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(report["seconds"] as? Double == 180)
        #expect(json.lines.count == 1)
        let missing = try await respool.run("probe", "missing.wav")
        #expect(missing.exitCode == 1 && missing.errors.contains("missing.wav"))
    }

    @Test func `formats lists every format`() async throws {
        let outcome = try await respool.run("formats", "--json")
        let names = try outcome.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])["format"] as? String
        }
        #expect(names == AudioFormat.all.map(\.name))
        let opus = try #require(outcome.lines.first { $0.contains(#""format":"opus""#) })
        #expect(opus.contains(#""bit_rate_modes":["vbr","cbr"]"#))
        #expect(opus.contains(#""applications":["audio","voip","lowdelay"]"#))
        #expect(opus.contains(#""frame_durations":[2.5,5,10,20,40,60,80,100,120]"#))
        #expect(opus.contains(#""dithers":[]"#))
        #expect(opus.contains(#""lowest_high_pass":1,"#) || opus.contains(#""lowest_high_pass":1}"#))
        let flac = try #require(outcome.lines.first { $0.contains(#""format":"flac""#) })
        #expect(flac.contains(#""lowest_compression_level":0"#) && flac.contains(#""highest_compression_level":12"#))
        let aac = try #require(outcome.lines.first { $0.contains(#""format":"adts""#) })
        #expect(aac.contains(#""lowest_compression_level":0"#) && aac.contains(#""highest_compression_level":1"#))
        #expect(flac.contains(#""dithers":["none","rectangular","triangular","shaped"]"#))
        let table = try await respool.run("formats").output
        #expect(table.contains("RIFF WAVE"))
        // FFmpeg decodes FLAC of 32 bits since 6.0 (libavcodec 60), and xHE-AAC since 7.1 (libavcodec 61.19).
        let printed = try await ChildProcess.run("ffmpeg", ["-version"]).output
        let version = try #require(printed.firstMatch(of: /libavcodec +([0-9]+)\. *([0-9]+)/))
        let number = try 1000 * #require(Int(version.1)) + #require(Int(version.2))
        #expect(table.contains("FLAC of 32 bits") == (number < 60_000))
        #expect(table.contains("xHE-AAC") == (number < 61_019))
    }
}
