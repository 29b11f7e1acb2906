import Glibc
import Redis
import Synchronization

// A release is linked with the static Swift library, which has no Testing; it contains no tests.
#if canImport(Testing)
package import Testing

/// Prints the last lines of the processes that a failed test has started, and the contents of its servers of Redis. A suite
/// that starts processes has this trait.
package struct FailureReport: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let started = StartedProcesses()
        let observer = IssueHandlingTrait.compactMapIssues { issue in
            if issue.isFailure { started.hasFailed = true }
            return issue
        }
        do {
            try await StartedProcesses.$current.withValue(started) {
                try await observer.provideScope(for: test, testCase: testCase, performing: function)
            }
        } catch {
            started.hasFailed = true
            await started.end(test.name)
            throw error
        }
        await started.end(test.name)
    }
}

extension Trait where Self == FailureReport {
    package static var failureReport: FailureReport { FailureReport() }
}
#endif

/// The last processes that a test has started.
final class StartedProcesses: Sendable {
    @TaskLocal static var current: StartedProcesses?

    private struct Contents {
        var children: [ChildState] = []
        var servers: [RedisServer] = []
        var hasFailed = false
    }

    private let contents = Mutex(Contents())
    /// Processes that are used after the test that started them, because all tests share them.
    private static let shared = Mutex<[ChildState]>([])

    var hasFailed: Bool {
        get { contents.withLock { $0.hasFailed } }
        set { contents.withLock { $0.hasFailed = newValue } }
    }

    func add(_ child: ChildState) { contents.withLock { $0.children = $0.children.suffix(19) + [child] } }

    /// Keeps the server until the test has ended, although its owner releases it earlier: an error that is thrown is seen late.
    func add(_ server: RedisServer) {
        contents.withLock { if !$0.hasFailed { $0.servers = $0.servers.suffix(3) + [server] } }
    }

    /// Prints the report if the test has failed.
    func end(_ test: String) async {
        let (children, servers, hasFailed) = contents.withLock { ($0.children, $0.servers, $0.hasFailed) }
        let shared = Self.shared.withLock { all in
            let others = all.filter(\.isOwned)
            all = others + children.filter(\.isOwned)
            return others
        }
        guard hasFailed || Task.isCancelled else { return }
        var lines = ["--- what \(test) has started"] + children.flatMap(\.report)
        if !shared.isEmpty { lines += ["--- what other tests have started before"] + shared.flatMap(\.report) }
        for server in servers { lines += ["--- redis-server \(server.pid)"] + (await server.report()) }
        writeAll(
            Array((lines.map(printable).joined(separator: "\n") + "\n--- end of \(test)\n").utf8), to: STDERR_FILENO)
    }
}

/// The line without control characters, and not longer than is useful.
private func printable(_ line: String) -> String {
    String(String.UnicodeScalarView(line.unicodeScalars.prefix(400).map { $0.value < 32 ? "\u{fffd}" : $0 }))
}

extension RedisServer {
    /// The keys, and what those that are not streams or texts contain.
    fileprivate func report() async -> [String] {
        let client = RedisClient(url: url, name: "report", timeout: .seconds(3))
        var lines: [String]
        do throws(RedisError) {
            lines = try await client.send(["EVAL", .text(Self.listing), 0]).array?.compactMap(\.string) ?? []
        } catch {
            lines = ["no answer: \(error)"]
        }
        await client.close()
        return lines
    }

    private static let listing = """
        local readers = {
            hash = {'HLEN', 'HGETALL'}, zset = {'ZCARD', 'ZRANGE', 0, 9, 'WITHSCORES'}, set = {'SCARD', 'SMEMBERS'},
            list = {'LLEN', 'LRANGE', 0, 9}, stream = {'XLEN'}, string = {'STRLEN'},
        }
        local keys, lines = redis.call('KEYS', '*'), {}
        table.sort(keys)
        for index = 1, math.min(#keys, 60) do
            local key = keys[index]
            local kind = redis.call('TYPE', key).ok
            local reader = readers[kind]
            local line = key .. ' (' .. kind .. ' of ' .. redis.call(reader[1], key) .. ')'
            if reader[2] then line = line .. ' ' .. table.concat(redis.call(reader[2], key, unpack(reader, 3)), ' ') end
            lines[index] = line
        end
        lines[#lines + 1] = #keys .. ' keys'
        return lines
        """
}
