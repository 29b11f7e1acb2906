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

    @Test func `each script is embedded as it is in its file`() throws {
        let folder = "\(Self.root)/Sources/Jobs/Scripts"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let text = try Data(contentsOf: URL(filePath: "\(folder)/\(file)"))
            #expect(QueueScript.text("\(file.dropLast(4))").map { Data($0) } == text, "\(file)")
        }
    }

    @Test func `Redis compiles each script, and the linter reads it as Redis gets it`() async throws {
        let server = try await RedisServer()
        let folder = try TemporaryFolder()
        let words = ["-B", "\(Self.root)/Tools/lua_scripts.py", "write", folder.path]
        let outcome = try await ChildProcess.run("/usr/bin/python3", words)
        try #require(outcome.succeeded, "\(outcome.errors)")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let name = "\(file.dropLast(4))"
            let script = QueueScript.script(name, try #require(QueueScript.text(name)))
            let isSame = try Data(contentsOf: URL(filePath: folder.file(file))) == Data(script.source)
            #expect(isSame, "\(name)")
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
