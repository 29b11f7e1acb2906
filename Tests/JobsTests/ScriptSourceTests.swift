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
            // The linter knows only the names of what Swift renders.
            let rest = QueueScript.rendered.values.reduce(String(decoding: script.source, as: UTF8.self)) {
                $0.replacing($1, with: "")
            }
            let isSame = try String(contentsOfFile: folder.file(file), encoding: .utf8) == rest
            #expect(isSame, "\(name)")
            #expect(try await server.client().send(["SCRIPT", "LOAD", .bytes(script.source)]).string == script.digest)
        }
    }
}
