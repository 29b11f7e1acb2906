import Foundation
import Glibc
import TestSupport
import Testing

@testable import respool

/// `respool up` with real programs in a temporary folder.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct UpTests {
    private let folder: TemporaryFolder
    private let data: String

    init() throws {
        folder = try TemporaryFolder()
        data = folder.file("data")
    }

    private var environment: [String: String] {
        RespoolProcess(environment: ["RESPOOL_UP_DIR": data, "RESPOOL_SLOTS": "1", "RESPOOL_LISTEN": "127.0.0.1:0"])
            .environment
    }

    /// The commands of somebody who pasted the printed line.
    private var respool: RespoolProcess {
        RespoolProcess(environment: ["RESPOOL_REDIS_URL": "unix://\(data)/redis.sock"], folder: folder.path)
    }

    private func start(_ more: [String: String] = [:]) async throws -> ChildProcess {
        let up = try await ChildProcess(
            Programs.path("respool"), ["up"], environment: environment.merging(more) { $1 }, folder: folder.path)
        try await eventually("`respool up` is ready", within: .seconds(90)) {
            guard up.isRunning else { throw NotInTime(description: "it ended: \(up.output)\(up.errors)") }
            return up.output.contains("Ctrl-C stops it")
        }
        return up
    }

    private func stop(_ up: ChildProcess) async throws {
        up.kill(SIGTERM)
        let outcome = await up.wait()
        #expect(outcome.exitCode == 0, "\(outcome.output)\(outcome.errors)")
    }

    private func address(_ up: ChildProcess) throws -> String {
        try #require(up.output.firstMatch(of: /ready at (http:\/\/127\.0\.0\.1:\d+)\//)).output.1.description
    }

    /// The process id of a child of `respool up`.
    private func child(_ up: ChildProcess, _ words: String) async throws -> pid_t? {
        let found = try await ChildProcess.run("pgrep", ["-P", "\(up.pid)", "-f", words])
        return found.output.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    private func children(_ up: ChildProcess) async throws -> [pid_t] {
        try await ChildProcess.run("pgrep", ["-P", "\(up.pid)"]).output.split(separator: "\n").compactMap { pid_t($0) }
    }

    /// Whether the process exists. One that nobody reaps is over, too.
    private func isAlive(_ pid: pid_t) -> Bool {
        let line = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        return !line.isEmpty && !line.contains(") Z ")
    }

    /// Pushes jobs whose source is as long, or for which a conversion outlasts the test.
    private func push(seconds: Int?, _ count: Int = 1) async throws -> [String] {
        let source = "\(data)/uploads/a.wav"
        if !FileManager.default.fileExists(atPath: source) {
            if let seconds {
                try folder.write("data/uploads/a.wav", Sounds.ramp(samples: 44_100 * seconds))
            } else {
                try Sounds.writeSilence(to: source)
            }
        }
        let files = Array(repeating: source, count: count)
        let outcome = try await respool.run(["enqueue"] + files + ["--format", "mp3"])
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.lines
    }

    private func job(_ id: String) async throws -> [String: Any] {
        let outcome = try await respool.run("status", id, "--json")
        return try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any] ?? [:]
    }

    private func status(_ url: String) async throws -> String {
        try await ChildProcess.run("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", url]).output
    }

    @Test func `a pushed job is converted, and everything is stopped`() async throws {
        let up = try await start()
        let url = try address(up)
        #expect(up.output.contains("export RESPOOL_REDIS_URL=unix://\(data)/redis.sock\n"))
        #expect(try await status("\(url)/readyz") == "200")
        let id = try #require(try await push(seconds: 2).first)
        #expect(try await respool.run("status", id, "--watch").exitCode == 0)
        #expect(FileManager.default.fileExists(atPath: "\(data)/outputs/\(id).mp3"))
        let port = try await ChildProcess.run("redis-cli", ["-s", "\(data)/redis.sock", "CONFIG", "GET", "port"])
        #expect(port.output == "port\n0\n")
        let mode = try FileManager.default.attributesOfItem(atPath: data)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        // The metrics of the worker, and the secret of callbacks, are where it says.
        let metrics = try #require(up.output.firstMatch(of: /worker +(http:\/\/127\.0\.0\.1:\d+\/metrics)\n/)).output.1
        let scraped = try await ChildProcess.run("curl", ["-sf", String(metrics)])
        #expect(scraped.output.contains("respool_jobs_total{"), "\(scraped)")
        let secret = try String(contentsOfFile: "\(data)/callback-secret", encoding: .utf8)
        #expect(secret.hasPrefix("whsec_") && secret.count == 51 && up.output.contains("\(data)/callback-secret\n"))
        let bits =
            try FileManager.default.attributesOfItem(atPath: "\(data)/callback-secret")[.posixPermissions] as? Int
        #expect(bits == 0o600)
        let log = try String(contentsOfFile: "\(data)/logs/worker.log", encoding: .utf8)
        #expect(!log.contains("this worker sends no callbacks"), "\(log)")

        let second = try await ChildProcess.run(
            Programs.path("respool"), ["up", "--listen", String(url.dropFirst(7))], environment: environment)
        #expect(second.exitCode == 1)
        #expect(second.errors.contains("`respool up` already runs at \(url)/ (process \(up.pid))"), "\(second.errors)")

        let programs = try await children(up)
        #expect(programs.count == 3)
        try await stop(up)
        for pid in programs { #expect(!isAlive(pid)) }
        #expect(up.errors == "")
    }

    @Test func `a running job is given back at the end, and runs at the next start`() async throws {
        let up = try await start(["RESPOOL_GRACE": "0"])
        let id = try #require(try await push(seconds: nil).first)
        try await eventually("the job runs") { try await job(id)["state"] as? String == "running" }
        try await stop(up)
        let next = try await start(["RESPOOL_GRACE": "0"])
        try await eventually("the job runs again") { try await job(id)["state"] as? String == "running" }
        // Redis outlived the worker, or the lease would have been lost.
        #expect(try await job(id)["attempt"] as? Int == 1)
        #expect(try await job(id)["crashes"] as? Int == 0)
        try await stop(next)
    }

    @Test func `a killed program comes back, and no job is lost`() async throws {
        let up = try await start()
        let url = try address(up)
        let ids = try await push(seconds: 60, 2)
        for words in ["respoold worker", "redis-server", "respoold serve"] {
            let pid = try #require(try await child(up, words))
            kill(pid, SIGKILL)
            try await eventually("\(words) runs again", every: .milliseconds(100)) {
                try await child(up, words).map { $0 != pid } ?? false
            }
        }
        try await eventually("the server is ready") { try await status("\(url)/readyz") == "200" }
        #expect(try await respool.run(["status"] + ids + ["--watch"]).exitCode == 0)
        for id in ids { #expect(try await job(id)["state"] as? String == "completed") }
        #expect(up.errors.contains("worker ended with signal 9; it starts again in 1 s"), "\(up.errors)")
        try await stop(up)
    }

    @Test func `a program that ends five times within a minute ends all`() async throws {
        let up = try await start()
        var last: pid_t = 0
        for _ in 0..<5 {
            try await eventually("serve runs again", every: .milliseconds(100)) {
                let pid = try await child(up, "respoold serve")
                guard let pid, pid != last else { return false }
                last = pid
                return true
            }
            kill(last, SIGKILL)
        }
        let programs = try await children(up)
        let outcome = await up.wait()
        #expect(outcome.exitCode == 1)
        #expect(outcome.errors.contains("serve ended 5 times within a minute, the last time with signal 9: "))
        for pid in programs { #expect(!isAlive(pid)) }
    }

    @Test func `a second signal ends all at once`() async throws {
        let up = try await start()
        let programs = try await children(up)
        let id = try #require(try await push(seconds: nil).first)
        try await eventually("the job runs") { try await job(id)["state"] as? String == "running" }
        up.kill(SIGINT)
        try await eventually("it stops") { up.output.contains("\nStopping: running jobs get 25 s to finish.") }
        up.kill(SIGINT)
        #expect(await up.wait().exitCode == 130)
        try await eventually("its programs end") { !programs.contains(where: isAlive) }
    }

    @Test func `a large log is copied and emptied`() throws {
        let log = ProgramLog(path: try folder.write("worker.log", text: "the last line\n"))
        log.rotate()
        #expect(log.tail() == "the last line")
        try folder.write("worker.log", [UInt8](repeating: 10, count: 11 << 20))
        log.rotate()
        #expect(try Data(contentsOf: URL(filePath: log.path)).isEmpty)
        #expect(try Data(contentsOf: URL(filePath: log.path + ".1")).count == 11 << 20)
    }

    @Test func `the children of a killed one end, and the next start takes the folder`() async throws {
        let up = try await start()
        let programs = try await children(up)
        up.kill(SIGKILL)
        await up.wait()
        let next = try await start()
        for pid in programs { #expect(!isAlive(pid)) }
        try await stop(next)
    }

    @Test func `what cannot work is refused before anything starts`() async throws {
        func refusal(_ words: [String], _ more: [String: String] = [:]) async throws -> Outcome {
            try await ChildProcess.run(
                Programs.path("respool"), ["up"] + words, environment: environment.merging(more) { $1 },
                folder: folder.path)
        }
        let public_ = try await refusal(["--listen", "0.0.0.0:8080"])
        #expect(public_.exitCode == 2)
        #expect(public_.errors.contains("other machines reach the address '0.0.0.0:8080': give tokens with --tokens"))
        let socket = try await refusal(["--listen", "unix:\(folder.file("up.sock"))"])
        #expect(socket.exitCode == 2 && socket.errors.contains("is a Unix socket"), "\(socket.errors)")
        #expect(access(folder.file("up.sock"), F_OK) != 0)
        let missing = try await ChildProcess.run(
            Programs.path("respool"), ["up"], environment: environment.merging(["PATH": "/nowhere"]) { $1 })
        #expect(missing.exitCode == 1)
        #expect(
            missing.errors.contains("`respool up` needs redis-server and setpriv: run `apt-get install redis-server"))
        let long = try await refusal(["--data", "/tmp/" + String(repeating: "x", count: 100)])
        #expect(long.errors.contains("is 9 bytes too long for the socket in it"), "\(long.errors)")
        #expect(!FileManager.default.fileExists(atPath: data))

        try folder.write("file", text: "")
        let file = try await refusal(["--data", "file/below"])
        #expect(file.exitCode == 1)
        #expect(file.errors.contains("cannot create the folder '\(folder.path)/file/below': Not a directory"))
        let other = try await refusal(["--data", "."])
        #expect(other.errors.contains("'\(folder.path)' has other files"), "\(other.errors)")

        let port = try LoopbackPort.free()
        let listener = try await ChildProcess("python3", ["-m", "http.server", "--bind", "127.0.0.1", "\(port)"])
        try await eventually("the port is taken") { try await status("http://127.0.0.1:\(port)/") == "200" }
        let taken = try await refusal(["--listen", "\(port)"])
        #expect(taken.exitCode == 1)
        #expect(
            taken.errors.contains("cannot listen on 127.0.0.1:\(port): Address already in use; stop what listens"),
            "\(taken.errors)")
        listener.kill()
        #expect(!FileManager.default.fileExists(atPath: "\(data)/redis.sock"))
    }

    @Test func `a setting that a program refuses ends the start`() async throws {
        let outcome = try await ChildProcess.run(
            Programs.path("respool"), ["up"], environment: environment.merging(["RESPOOL_LEASE": "x"]) { $1 })
        #expect(outcome.exitCode == 2)
        #expect(
            outcome.errors.contains("worker ended at the start: respoold: RESPOOL_LEASE is 'x'"), "\(outcome.errors)")
        #expect(!outcome.output.contains("ready"))
    }
}
