import Foundation
import JobSchema
import Jobs
import Lifecycle
import MediaTypes
import Redis
import TestSupport

/// A Redis of one's own, folders for sources and outputs, and workers that use them: the real programs.
final class Workshop: Sendable {
    let redis: RedisServer
    let client: RedisClient
    let queue: JobQueue
    private let folder: TemporaryFolder

    init(_ options: KeyValuePairs<String, String> = [:], clock: RedisServer.Clock = .running) async throws {
        folder = try TemporaryFolder()
        for name in ["in", "out", "spool", "state"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
        }
        redis = try await RedisServer(options, clock: clock)
        client = redis.client()
        queue = JobQueue(client: client)
    }

    /// Starts a worker, and waits until it takes jobs.
    func worker(_ environment: [String: String] = [:]) async throws -> ChildProcess {
        let child = try await ChildProcess(
            Programs.path("respoold"), ["worker"], environment: self.environment.merging(environment) { $1 })
        try await eventually("the worker starts") {
            guard child.isRunning else { throw NotInTime(description: "the worker ended: \(child.errors)") }
            return child.errors.contains("worker started")
        }
        return child
    }

    var environment: [String: String] {
        [
            "RESPOOL_REDIS_URL": "unix://\(redis.socket)", "RESPOOL_SLOTS": "1", "RESPOOL_LEASE": "10",
            "RESPOOL_SOURCE_ROOTS": folder.file("in"), "RESPOOL_OUTPUT_ROOT": folder.file("out"),
            "RESPOOL_SPOOL_DIR": folder.file("spool"), "RESPOOL_STATE_DIR": folder.file("state"),
            "RESPOOL_ALLOW_HOSTS": "127.0.0.1", "RESPOOL_ALLOW_OUTPUT_HOSTS": "127.0.0.1", "RESPOOL_MAX_CRASHES": "10",
        ]
    }

    /// Another queue on the same server.
    func queue(_ name: String) throws -> JobQueue { JobQueue(client: client, name: try QueueName(name)) }

    /// Pushes a job as anybody may, to the queue `default` unless another is given, and answers its id.
    func push(
        _ fields: KeyValuePairs<String, String>, to other: JobQueue? = nil, id: RedisArgument = "*"
    ) async throws -> String {
        var command: RedisCommand = ["XADD", .text((other ?? queue).keys.inbox), id]
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
        let reply = try await client.send(command)
        return try reply.string ?? { throw NotInTime(description: "XADD answered \(reply)") }()
    }

    func job(_ id: String) async throws -> JobRecord? { try await queue.jobs([id])[0] }

    /// Waits until the job is in the state, and answers all that is known of it.
    @discardableResult
    func job(_ id: String, reaches state: JobState) async throws -> JobRecord {
        var last: JobRecord?
        do {
            try await eventually("", every: .milliseconds(20)) {
                last = try await job(id)
                return last?.state == state
            }
        } catch is NotInTime {
            throw NotInTime(description: "not \(state) in time: \(String(describing: last))")
        }
        return last!
    }

    /// Waits until the job's worker reports that audio is converted.
    func isConverting(_ id: String) async throws {
        try await eventually("job \(id) converts", every: .milliseconds(20)) {
            let job = try await job(id)
            return job?.state == .running && job?.phase == .converting
        }
    }

    /// Writes a file of sources and answers its URL.
    func source(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        "file://" + (try folder.write("in/\(name)", bytes))
    }

    /// Renames one of the folders `in`, `out` and `spool`.
    func renameFolder(_ name: String, to other: String) throws {
        guard rename(folder.file(name), folder.file(other)) == 0 else { throw POSIXError(.EIO) }
    }

    /// Creates one of these folders as it was at the start, with the files of another one.
    func createFolder(_ name: String, from other: String) throws {
        try FileManager.default.copyItem(atPath: folder.file(other), toPath: folder.file(name))
    }

    /// The path of one of the folders `in`, `out` and `spool`.
    func path(of name: String) -> String { folder.file(name) }

    func output(_ name: String) -> String { folder.file("out/\(name)") }

    /// Everything under the output root, hidden and staged files too.
    var outputs: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.file("out"))) ?? [] }
}

extension ChildProcess {
    /// Waits until the child has logged the words; throws at once if it ends without them.
    func logs(_ words: String) async throws {
        try await eventually("\"\(words)\" is logged") {
            if errors.contains(words) { return true }
            guard !isRunning else { return false }
            let text = await wait().errors
            guard text.contains(words) else { throw NotInTime(description: "ended before \"\(words)\": \(text)") }
            return true
        }
    }

    /// The process ids of the children with that name.
    func children(_ name: String) async throws -> [pid_t] {
        let list = try await ChildProcess.run("pgrep", ["-P", "\(pid)", "-f", name])
        return list.output.split(separator: "\n").compactMap { pid_t($0) }
    }
}

/// Waits until the process is gone, or waits only for somebody to ask how it ended.
func hasEnded(_ pid: pid_t) async throws {
    try await eventually("process \(pid) ends") {
        let status = FileManager.default.contents(atPath: "/proc/\(pid)/stat").map {
            String(decoding: $0, as: UTF8.self)
        }
        return status.map { $0.contains(") Z ") } ?? true
    }
}
