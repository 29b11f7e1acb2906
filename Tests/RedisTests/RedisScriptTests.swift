import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct RedisScriptTests {
    let script = RedisScript(
        name: "count", source: Array("return {redis.call('INCRBY', KEYS[1], ARGV[1]), ARGV[2]}".utf8))

    @Test func `a script is called by its SHA-1`() {
        #expect(
            RedisScript(name: "abc", source: Array("abc".utf8)).digest == "a9993e364706816aba3e25717850c26c9cd0d89d")
    }

    @Test func `a script runs on a server that never saw it, forgot it, or was restarted`() async throws {
        let server = try await RedisServer(["appendonly": "yes", "appendfsync": "always"])
        let client = server.client()
        for turn in 1...3 {
            let reply = try await client.run(script, keys: ["n"], arguments: [10, .bytes([0, 255])])
            #expect(reply == .array([.integer(Int64(turn * 10)), .bytes([0, 255])]))
        }
        #expect(try await client.send(["SCRIPT", "EXISTS", .text(script.digest)]) == .array([.integer(1)]))
        _ = try await client.send(["SCRIPT", "FLUSH"])
        #expect(try await client.run(script, keys: ["n"], arguments: [1, "x"]).array?.first == .integer(31))
        try await server.restart()
        #expect(try await client.run(script, keys: ["n"], arguments: [1, "x"]).array?.first == .integer(32))
    }

    @Test func `the error that a script returns is thrown`() async throws {
        let server = try await RedisServer()
        let stale = RedisScript(name: "stale", source: Array("return redis.error_reply('STALE token 3:ab')".utf8))
        let client = server.client()
        for _ in 0..<2 {
            await #expect(throws: RedisError.server(code: "STALE", message: "token 3:ab")) {
                try await client.run(stale, keys: [], arguments: [])
            }
        }
    }

    @Test func `a server that runs no scripts says so`() async throws {
        let folder = try TemporaryFolder()
        let lines = ["EVAL", "EVALSHA"].map { "rename-command \($0) \"\"\n" }
        let path = try folder.write("without.conf", text: lines.joined())
        let server = try await RedisServer(["include": path])
        for _ in 0..<2 {
            let error = await #expect(throws: RedisError.self) {
                try await server.client().run(script, keys: ["n"], arguments: [1, "SECRET"])
            }
            #expect(error?.description.hasPrefix("this server runs no Lua scripts") == true)
            #expect(error?.description.contains("SECRET") == false)
        }
    }
}
