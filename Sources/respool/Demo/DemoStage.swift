import FoundationEssentials
import Glibc
import Lifecycle
import Redis
import Synchronization

/// The processes and the temporary folder of the demo. `clear` removes all of them.
final class DemoStage: Sendable {
    /// A separate folder below /tmp, because the path of a unix socket must be short.
    let folder: String
    private let children = Mutex<[String: ChildProgram]>([:])

    init() throws(CommandFailure) {
        var template = Array("/tmp/respool-demo-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .failed("cannot create a folder below /tmp: \(Errno.last)") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(folder)/\(name)" }

    /// Starts a redis-server on a unix socket and waits until it replies.
    func startServer() async throws(CommandFailure) -> QueueConnection {
        let server = PrivateRedis(socket: file("redis.sock"), folder: folder, isDurable: false)
        try await start("redis-server", server.words, deathSignal: "KILL")
        return QueueConnection(url: try await server.ready(within: .seconds(10), fault: fault))
    }

    /// Starts a worker that may read the sources and write the outputs.
    func startWorker(at url: RedisURL, sources: [String], outputs: String) async throws(CommandFailure) {
        var words = [try SiblingProgram.own(), "worker", "--redis", "\(url)", "--queue", "default", "--grace", "2"]
        words += sources.flatMap { ["--source-root", $0] } + ["--output-root", outputs, "--spool-dir", folder]
        try await start("worker", words, deathSignal: "TERM")
    }

    /// Runs a program to its end and returns its output.
    func output(of words: [String]) async throws(CommandFailure) -> Data {
        let path = file("output-\(UInt32.random(in: 0...UInt32.max))")
        let child = try await ChildProgram.start(words, deathSignal: "KILL", output: path)
        while child.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
        return (try? Data(contentsOf: URL(filePath: path))) ?? Data()
    }

    /// The failure if a child has ended unexpectedly, with the end of its log.
    func fault() -> CommandFailure? {
        let ended = children.withLock { children in children.first { !$0.value.isRunning }?.key }
        guard let ended else { return nil }
        let log = (try? Data(contentsOf: URL(filePath: file("\(ended).log")))) ?? Data()
        let lines = String(decoding: log, as: UTF8.self).split(separator: "\n").suffix(3).joined(separator: " / ")
        return .failed("the \(ended) of the demo exited unexpectedly: \(lines.isEmpty ? "it printed nothing" : lines)")
    }

    /// Shuts down the worker, and then the server.
    func end() async {
        for name in ["worker", "redis-server"] {
            guard let child = children.withLock({ $0.removeValue(forKey: name) }) else { continue }
            child.kill(SIGTERM)
            for _ in 0..<500 where child.isRunning { try? await Task.sleep(for: .milliseconds(10)) }
            child.kill(SIGKILL)
        }
    }

    /// Kills the remaining processes and removes the folder.
    func clear() {
        let left = children.withLock { children in
            defer { children = [:] }
            return children
        }
        for child in left.values { child.kill(SIGKILL) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func start(_ name: String, _ words: [String], deathSignal: String) async throws(CommandFailure) {
        let child = try await ChildProgram.start(words, deathSignal: deathSignal, output: file("\(name).log"))
        children.withLock { $0[name] = child }
    }
}
