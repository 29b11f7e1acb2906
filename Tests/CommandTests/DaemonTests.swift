import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct DaemonTests {
    /// A copy of the command in a folder of its own, beside a daemon that only prints what it was given.
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try await install(Programs.path("respool"), as: "bin/respool")
    }

    /// Copied by another process: one that this process had open for writing would be busy for as long as a child that is
    /// just being started holds it open, too.
    private func install(_ path: String, as name: String) async throws {
        let outcome = try await ChildProcess.run("install", ["-D", "-m", "755", path, folder.file(name)])
        try #require(outcome.succeeded, "\(outcome.errors)")
    }

    private func placeDaemon(in place: String) async throws {
        let script = try folder.write("script", text: "#!/bin/sh\necho \"$@\"; env | grep ^RESPOOL_ | sort\n")
        try await install(script, as: "\(place)/respoold")
    }

    private func run(_ words: String...) async throws -> Outcome {
        let clean = ["PATH": "/usr/bin:/bin", "RESPOOL_REDIS_URL": "", "RESPOOL_OUTPUT_ROOT": "/elsewhere"]
        return try await ChildProcess.run(folder.file("bin/respool"), words, environment: clean, folder: folder.path)
    }

    @Test(arguments: ["bin", "libexec/respool"])
    func `the command becomes the daemon, with its flags as environment variables`(place: String) async throws {
        try await placeDaemon(in: place)
        for name in ["in", "out"] { mkdir(folder.file(name), 0o755) }
        let outcome = try await run(
            "worker", "-s", "3", "--grace", "2.5", "--source-root", "in", "--source-root", "/usr", "--output-root",
            "out",
            "--allow-host", "10.0.0.0/8", "--allow-host", "x.org", "--allow-output-host", "y.org", "--redis",
            "redis://h/1", "--queue", "q", "--listen",
            "127.0.0.1:9", "--max-crashes", "9", "--spool-dir", "/tmp")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(
            outcome.lines == [
                "worker", "RESPOOL_ALLOW_HOSTS=10.0.0.0/8,x.org", "RESPOOL_ALLOW_OUTPUT_HOSTS=y.org",
                "RESPOOL_GRACE=2.5", "RESPOOL_LISTEN=127.0.0.1:9",
                "RESPOOL_MAX_CRASHES=9", "RESPOOL_OUTPUT_ROOT=\(folder.path)/out", "RESPOOL_QUEUE=q",
                "RESPOOL_REDIS_URL=redis://h/1", "RESPOOL_SLOTS=3", "RESPOOL_SOURCE_ROOTS=\(folder.path)/in:/usr",
                "RESPOOL_SPOOL_DIR=/tmp",
            ])
        #expect(try await run("worker", "--check").lines[0] == "worker --check")
        #expect(try await run("worker", "--output-root", "none").lines.contains("RESPOOL_OUTPUT_ROOT=none"))
        #expect(try await run("serve", "-l", "[::1]:80").lines.prefix(2) == ["serve", "RESPOOL_LISTEN=[::1]:80"])
    }

    @Test(arguments: [
        (["worker", "--source-root", "in/missing"], "--source-root is 'in/missing': No such file or directory"),
        (["worker", "--listen", "somewhere"], "--listen is 'somewhere': expected a port"),
        (["serve", "--tokens", "tokens"], "--tokens is 'tokens': No such file or directory"),
        (["serve", "--listen", "127.0.0.1:99999"], "--listen is '127.0.0.1:99999': expected a port"),
        (["serve", "--tls-key", "key.pem"], "--tls-key is 'key.pem': No such file or directory"),
    ])
    func `a wrong value is reported with the option that was typed`(words: [String], beginning: String) async throws {
        try await placeDaemon(in: "bin")
        let outcome = try await ChildProcess.run(
            folder.file("bin/respool"), words, environment: ["PATH": "/usr/bin:/bin"], folder: folder.path)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains(beginning), "\(outcome.errors)")
    }

    @Test func `a missing daemon is reported with the path where it was expected`() async throws {
        let outcome = try await run("worker")
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("respoold is neither in \(folder.path)/bin nor in"))
    }
}
