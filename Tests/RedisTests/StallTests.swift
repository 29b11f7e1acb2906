import TestSupport
import Testing

@testable import Redis

/// Connections that stand and carry nothing.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct StallTests {
    @Test func `the client works again when the server's pause ends`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(url: server.url, name: "test", timeout: .milliseconds(300))
        let bell = BlockingRedisClient(url: server.url, name: "bell", timeout: .milliseconds(300))
        let wait: RedisCommand = ["BLPOP", "none", "0.05"]
        // On a busy machine, it may take longer to connect.
        try await eventually("a connection") { (try? await client.send(["PING"])) == .text("PONG") }
        try await eventually("a bell") { (try? await bell.block(wait, for: .milliseconds(50))) == .null }
        // Again, where a busy machine slept through one.
        try await eventually("no answer") {
            _ = try await server.client().send(["CLIENT", "PAUSE", 1500])
            do throws(RedisError) { _ = try await client.send(["PING"]) } catch {
                return error.description.contains("no response within 0.3 s") && error.isTransient
            }
            return false
        }
        try await eventually("an answer") { (try? await client.send(["PING"])) == .text("PONG") }
        try await eventually("a bell") { (try? await bell.block(wait, for: .milliseconds(50))) == .null }
    }

    @Test func `a call ends at the common end of its task's calls, however long its own timeout is`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        #expect(try await client.send(["PING"]) == .text("PONG"))
        server.freeze()
        await #expect(throws: RedisError.self) {
            try await CallLimit.$end.withValue(.now) { _ = try await client.send(["PING"]) }
        }
        server.thaw()
        #expect(try await client.send(["PING"]) == .text("PONG"))
    }

    @Test func `a timeout error names the limit, not the time that was left for one address`() throws {
        var terms: [Duration] = []
        #expect(throws: RedisError.self) {
            _ = try Deadline(after: .seconds(30)).first(of: ["a", "b", "c"]) { _, share throws(RedisError) -> Int in
                terms.append(share.term)
                #expect(share.remaining <= .seconds(30))
                throw .connection("no answer")
            }
        }
        #expect(terms == Array(repeating: .seconds(30), count: 3))
    }

    @Test func `a connection whose peer vanished silently is abandoned`() async throws {
        let server = try await RedisServer()
        let folder = try TemporaryFolder()
        let proxy = try await ChildProcess(
            "python3", ["-u", Script.path("stalling_proxy.py"), folder.file("sock"), server.socket])
        try await eventually("the proxy listens") { proxy.output.contains("ready") }
        let url = try RedisURL("unix://\(folder.file("sock"))")
        let client = RedisClient(url: url, name: "test", timeout: .seconds(2))
        let bell = BlockingRedisClient(url: url, name: "bell", timeout: .seconds(2))
        let wait: RedisCommand = ["BLPOP", "none", "0.05"]
        try await eventually("a connection") { (try? await client.send(["PING"])) == .text("PONG") }
        try await eventually("a bell") { (try? await bell.block(wait, for: .milliseconds(50))) == .null }
        proxy.kill(10)
        try await eventually("both are lost") { proxy.output.contains("lost 2") }
        // Whoever sees no answer cannot know whether the command was carried out.
        let error = await #expect(throws: RedisError.self) { try await client.send(["INCR", "lost"]) }
        #expect(error?.isTransient == true)
        await #expect(throws: RedisError.self) { try await bell.block(wait, for: .milliseconds(50)) }
        try await eventually("an answer") { (try? await client.send(["INCR", "n"])) != nil }
        try await eventually("a bell") { (try? await bell.block(wait, for: .milliseconds(50))) == .null }
        #expect(try await server.client().send(["EXISTS", "lost"]).integer == 0)
    }
}
