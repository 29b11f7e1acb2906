import Foundation
package import Glibc
package import Redis
import Synchronization

/// A redis-server for one test or suite, on a unix socket in a separate folder. It is stopped when this object is released or
/// the process ends.
package final class RedisServer: Sendable {
    package let folder: TemporaryFolder
    /// The URL of the server's unix socket.
    package let url: RedisURL
    /// The server's program: that of the variable `REDIS_SERVER`, for another release or Valkey.
    package static let program = getenv("REDIS_SERVER").map { String(cString: $0) } ?? "redis-server"
    private let arguments: [String]
    private let environment: [String: String]
    private let process: Mutex<ChildProcess?>
    private let clock: Clock
    /// Servers that tests before have given back.
    private static let spare = Mutex<[Clock: [RedisServer]]>([:])

    /// How time passes for the server.
    package enum Clock: Sendable {
        case running
        /// As it does, but `setClock` moves it.
        case settable
        /// A second in twelve days: timeouts of blocking commands do not end. `setClock` moves it.
        case still
    }

    private static let stillClock = Task {
        let folder = try TemporaryFolder()
        try await CompiledProgram.make(folder.file("clock.so"), of: "clock.c", ["-shared", "-fPIC"])
        return folder
    }

    /// Starts a server and waits until it replies. The options are those of redis.conf and override the defaults.
    ///
    /// By default, nothing is saved and no port is open. After a restart, the server finds its append-only file in the same
    /// folder.
    package init(
        _ options: KeyValuePairs<String, String> = [:], in folder: TemporaryFolder? = nil, clock: Clock = .running
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        self.clock = clock
        let socket = folder.file("redis.sock")
        url = try RedisURL("unix://\(socket)")
        let defaults: KeyValuePairs = [
            "port": "0", "unixsocket": socket, "unixsocketperm": "700", "dir": folder.path, "save": "",
            "loglevel": "warning",
        ]
        // A list of pairs, because options such as `user` may be repeated.
        arguments = (defaults.map { $0 } + options.map { $0 }).flatMap { ["--\($0.key)", $0.value] }
        switch clock {
        case .running: environment = [:]
        case .settable, .still:
            let library = try await Self.stillClock.value.file("clock.so")
            let file = folder.file("clock")
            try Data(count: 8).write(to: URL(filePath: file))
            let pace = clock == .still ? ["CLOCK_SLOWER": "1000000"] : [:]
            environment = ["LD_PRELOAD": library, "CLOCK_FILE": file].merging(pace) { $1 }
        }
        process = Mutex(nil)
        try await launch()
        StartedProcesses.current?.add(self)
    }

    /// An empty server with the default options, for a test that gives it back.
    package static func borrowed(clock: Clock = .running) async throws -> RedisServer {
        guard let server = spare.withLock({ $0[clock]?.popLast() }) else { return try await RedisServer(clock: clock) }
        StartedProcesses.current?.add(server)
        return server
    }

    /// Empties the server for another test, unless this one has failed: its report tells the contents.
    package func giveBack() async throws {
        guard StartedProcesses.current?.hasFailed == false else { return }
        if clock != .running { try setClock(seconds: 0) }
        let client = client(name: "empty")
        let commands: [RedisCommand] = [
            ["CLIENT", "KILL", "TYPE", "normal"], ["CLIENT", "KILL", "TYPE", "pubsub"], ["FLUSHALL"],
            ["CONFIG", "RESETSTAT"],
            // What tests set.
            ["CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction"],
        ]
        for command in commands {
            _ = try await client.send(command)
        }
        await client.close()
        Self.spare.withLock { $0[clock, default: []].append(self) }
    }

    /// The process id of the running server.
    package var pid: pid_t { process.withLock { $0?.pid ?? 0 } }

    package var socket: String { folder.file("redis.sock") }

    /// A client of this server that waits for a busy machine.
    package func client(name: String = "test") -> RedisClient {
        RedisClient(url: url, name: name, timeout: .seconds(60))
    }

    /// Kills the server with SIGKILL and waits for its end.
    package func kill() async {
        let child = process.withLock { $0 }
        child?.kill()
        await child?.wait()
        // A killed server leaves its socket behind. Clients are refused with or without it.
        unlink(socket)
    }

    /// Restarts the server in the same folder, and waits until it replies.
    package func restart() async throws {
        await kill()
        try await launch()
    }

    /// Shuts the server down with SIGTERM and waits for its end.
    package func stop() async {
        let child = process.withLock { $0 }
        child?.kill(SIGTERM)
        await child?.wait()
    }

    /// Moves the clock by so many seconds from what it would be.
    package func setClock(seconds: Int64) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: folder.file("clock")))
        try file.write(contentsOf: withUnsafeBytes(of: seconds) { Data($0) })
        try file.close()
    }

    /// Suspends the server with SIGSTOP. It keeps its connections and does not reply.
    package func freeze() { process.withLock { $0?.kill(SIGSTOP) } }

    /// Resumes a suspended server with SIGCONT.
    package func thaw() { process.withLock { $0?.kill(SIGCONT) } }

    private func launch() async throws {
        let child = try await ChildProcess(Self.program, arguments, environment: environment)
        process.withLock { $0 = child }
        let client = client(name: "start")
        do {
            try await eventually("redis-server answers") {
                guard child.isRunning else {
                    throw NotInTime(description: "redis-server ended: \(child.output)\(child.errors)")
                }
                let reply = try? await client.send(["PING"])
                return reply == .text("PONG")
            }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }
}
