import FoundationEssentials
import JobSchema
import Lifecycle
import Redis
import TestSupport
import Testing

@testable import Jobs

/// What Redis gets is what the linter reads, and says the same as Swift.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ScriptSourceTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").path

    private static let scripts = [
        QueueScript.enqueue, QueueScript.admit, QueueScript.claim, QueueScript.beat, QueueScript.publish,
        QueueScript.recover, QueueScript.finish, QueueScript.cancel, QueueScript.retry, QueueScript.pause,
        QueueScript.ring, QueueScript.purge, QueueScript.stats, QueueScript.list, QueueScript.queued,
        QueueScript.admitAndSeal, QueueScript.limit, QueueScript.schedule, QueueScript.claimCallbacks,
        QueueScript.finishCallback,
        QueueScript.redeliver, QueueScript.reply, QueueScript.reschedule, QueueScript.quiet, QueueScript.repair,
    ]

    @Test func `the linter reads each script as Redis gets it`() async throws {
        let folder = try TemporaryFolder()
        let words = ["-B", "\(Self.root)/Tools/lua_scripts.py", "write", folder.path]
        let outcome = try await ChildProcess.run("/usr/bin/python3", words)
        try #require(outcome.succeeded, "\(outcome.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(names) == Set(Self.scripts.map { "\($0.name).lua" }))
        for script in Self.scripts {
            let file = FileManager.default.contents(atPath: folder.file("\(script.name).lua")) ?? Data()
            let isSame = Array(file) == script.source
            #expect(isSame, "\(script.name)")
        }
    }

    @Test func `Redis compiles each script`() async throws {
        let server = try await RedisServer()
        for script in Self.scripts {
            #expect(try await server.client().send(["SCRIPT", "LOAD", .bytes(script.source)]).string == script.digest)
        }
    }

    @Test func `the constants of the scripts are those of Swift`() throws {
        typealias Limit = JobSpec.Limit
        let defaults = """
            local DEFAULT_SETTINGS = '\(QueueSettings().line.split(separator: " ").prefix(6).joined(separator: " "))'
            local DEFAULT_RETENTION = '\(QueueSettings().line.split(separator: " ").dropFirst(6).joined(separator: " "))'

            """
        let limits = """
            local MAX_FIELDS, MAX_VALUE, MAX_BYTES = \(Limit.fields), \(Limit.valueBytes), \(Limit.bytes)
            local MAX_ATTEMPTS, MAX_TIMEOUT = \(Limit.attempts.upperBound), \(Int(Limit.timeout.upperBound))
            local MAX_DELAY, MAX_DEDUP = \(Int(Limit.delay.upperBound)), \(Limit.dedupBytes)
            local LATE = '\(JobSpec.lateness)'
            local MAX_CALLBACK = \(Limit.callbackBytes)
            local TRACEPARENT_RULE = '\(TraceParent.rule)'
            local CALLBACK_RULE = '\(CallbackURL.rule)'
            -- Each between two line ends.
            local FIELDS = [[

            \(JobField.all.map(\.name).joined(separator: "\n"))
            ]]

            """
        for (name, expected) in [("defaults.lua", defaults), ("constants.lua", limits)] {
            let file = FileManager.default.contents(atPath: "\(Self.root)/Sources/Jobs/Scripts/\(name)") ?? Data()
            let text = String(decoding: file, as: UTF8.self)
            #expect(text.hasSuffix("\n\n" + expected), "\(name) must end with:\n\(expected)")
        }
    }
}
