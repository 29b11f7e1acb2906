import Foundation
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct DemoTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Folders of demonstrations, which are gone when they are over.
    private func stages() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter { $0.hasPrefix("respool-demo-") })
    }

    @Test func `the demo shows conversions and their results, and draws on a terminal`() async throws {
        let before = try stages()
        let respool = RespoolProcess(folder: folder.path)
        let plain = try await respool.run("demo", "--minutes", "1")
        #expect(plain.exitCode == 0, "\(plain.output) \(plain.errors)")
        #expect(!plain.errors.contains("no worker"), "\(plain.errors)")
        #expect(!plain.output.contains("\u{1b}"))
        #expect(plain.lines.contains { $0.contains(" completed ") && $0.hasSuffix("(programme.wav → mp3)") })
        let finished = try FileManager.default.contentsOfDirectory(atPath: folder.file("respool-demo")).sorted()
        #expect(finished.count == 13)
        for name in finished { #expect(plain.lines.contains { $0.hasPrefix("\(name) ") }, "\(name)") }
        #expect(
            plain.lines.contains { $0.contains("programme.flac") && $0.contains(" 60.000 ") && $0.contains("44100") })

        let words = ["demo", "--minutes", "1", "--keep", folder.file("respool-demo")]
        let drawn = try await respool.startOnTerminal(words)
        try await eventually("the demo draws") {
            drawn.output.contains("\u{1b}[J") && drawn.output.contains("programme.wav → flac")
        }
        let line = ([Programs.path("respool")] + words).joined(separator: " ")
        let found = try await ChildProcess.run("pgrep", ["--full", "--exact", line])
        if let pid = found.lines.first.flatMap({ pid_t($0) }) { kill(pid, SIGINT) }
        // On a busy machine, it may be over already.
        let end = await drawn.wait()
        #expect([0, 130].contains(end.exitCode), "\(end.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("respool-demo")).sorted() == finished)
        #expect(try stages().isSubset(of: before))
    }

    @Test func `the demo names a missing program and how to install it`() async throws {
        let outcome = try await RespoolProcess(environment: ["PATH": "/nowhere"]).run("demo", "--keep", folder.path)
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("the demo needs redis-server and ffprobe"))
        #expect(outcome.errors.contains("`apt-get install redis-server ffmpeg"))
    }
}
