import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutageTests {
    @Test func `a refused connection fails at once, with one sentence`() async throws {
        let folder = try TemporaryFolder()
        let client = RedisClient(
            url: try RedisURL("unix://ann:secret@\(folder.path)/none"), name: "test", timeout: .seconds(60))
        let error = await #expect(throws: RedisError.self) { try await client.send(["PING"]) }
        #expect(
            error?.description == "cannot reach Redis at unix://ann:***@\(folder.path)/none: No such file or directory")
        #expect(error?.isTransient == true)
    }

    @Test func `a connection that died between two commands is replaced`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        let first = try await client.send(["CLIENT", "ID"])
        _ = try await server.client().send(["CLIENT", "KILL", "ID", .init(first.integer ?? 0)])
        let second = try await client.send(["CLIENT", "ID"])
        #expect(first != second)
        try await server.restart()
        #expect(try await client.send(["PING"]) == .text("PONG"))
    }

    @Test func `the client works again once the server is back`() async throws {
        let server = try await RedisServer(["appendonly": "yes", "appendfsync": "always"])
        let client = server.client()
        _ = try await client.send(["SET", "k", "v"])
        await server.kill()
        for _ in 0..<6 {
            let error = await #expect(throws: RedisError.self) { try await client.send(["GET", "k"]) }
            #expect(error?.isTransient == true)
        }
        try await server.restart()
        try await eventually("an answer") {
            (try? await client.send(["GET", "k"]).string) == "v"
        }
    }

    @Test func `the client never resends a command without being asked`() async throws {
        let folder = try TemporaryFolder()
        let server = try await ChildProcess("python3", ["-u", Script.path("breaking_redis.py"), folder.file("sock")])
        try await eventually("the server listens") { server.output.contains("ready") }
        let client = RedisClient(url: try RedisURL("unix://\(folder.file("sock"))"), name: "test")
        let error = await #expect(throws: RedisError.self) { try await client.send(["INCR", "n"]) }
        #expect(error?.description.contains("closed the connection") == true)
        await #expect(throws: RedisError.self) { try await client.send(["INCR", "n"]) }
        try await eventually("both are seen") {
            server.output.split(separator: "\n").filter { $0 == "INCR" }.count == 2
        }
        // What was sent before is read before.
        #expect(try await client.send(["GET", "n"]) == .text("OK"))
        try await eventually("the last one is seen") { server.output.hasSuffix("GET\n") }
        #expect(server.output.split(separator: "\n").filter { $0 == "INCR" }.count == 2)
    }

    @Test func `a server that does not answer in time is given up with an error`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(url: server.url, name: "test", timeout: .milliseconds(300))
        // On a busy machine, it may take longer to connect.
        try await eventually("a connection") { (try? await client.send(["PING"])) == .text("PONG") }
        server.freeze()
        for _ in 0..<2 {
            let error = await #expect(throws: RedisError.self) { try await client.send(["PING"]) }
            #expect(error?.description.contains("within 0.3 s") == true)
        }
        server.thaw()
        try await eventually("an answer") { (try? await client.send(["PING"])) == .text("PONG") }
    }

    @Test func `the client looks for the master again when the server has become a replica`() async throws {
        let server = try await RedisServer()
        let client = server.client()
        let first = try await client.send(["CLIENT", "ID"])
        _ = try await client.send(["REPLICAOF", "127.0.0.1", "1"])
        let error = await #expect(throws: RedisError.self) { try await client.send(["SET", "k", "v"]) }
        #expect(error?.isServer("READONLY") == true)
        #expect(error?.isTransient == true)
        #expect(try await client.send(["CLIENT", "ID"]) != first)
    }

    @Test func `close ends the call in progress and all later ones`() async throws {
        let server = try await RedisServer()
        let client = RedisClient(url: server.url, name: "test", timeout: .seconds(50))
        let call = Task { () async -> RedisError? in
            do throws(RedisError) { _ = try await client.send(["BLPOP", "none", 0]) } catch { return error }
            return nil
        }
        try await eventually("the call waits") { try await server.client().blockedClients == 1 }
        await client.close()
        #expect(await call.value == .closed)
        await #expect(throws: RedisError.closed) { try await client.send(["PING"]) }
    }

    @Test(arguments: ["LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS", "OOM", "MISCONF"])
    func `an error of a server that cannot serve now is transient and quotes its answer`(code: String) {
        let error = RedisError.server(code: code, message: "what it says")
        #expect(error.isTransient)
        #expect(error.description.hasSuffix("; it replied: \(code) what it says"))
    }

    @Test func `an error inside a script is recognised, also where Redis only quotes it`() async throws {
        let server = try await RedisServer(["min-replicas-to-write": "1"])
        let write = RedisScript(name: "write", source: Array("return redis.call('SET', 'k', 'v')".utf8))
        let plain = await #expect(throws: RedisError.self) { try await server.client().send(["SET", "k", "v"]) }
        let script = await #expect(throws: RedisError.self) {
            try await server.client().run(write, keys: [], arguments: [])
        }
        for error in [plain, script] {
            #expect(error?.isServer("NOREPLICAS") == true)
            #expect(error?.description.contains("too few replicas") == true)
        }
        _ = try await server.client().send(["CONFIG", "SET", "min-replicas-to-write", 0])
        _ = try await server.client().send(["CONFIG", "SET", "maxmemory", 1])
        let full = await #expect(throws: RedisError.self) {
            try await server.client().run(write, keys: [], arguments: [])
        }
        #expect(full?.isServer("OOM") == true && full?.isTransient == true)
        _ = try await server.client().send(["CONFIG", "SET", "maxmemory", 0])
        _ = try await server.client().send(["REPLICAOF", "127.0.0.1", "1"])
        let replica = await #expect(throws: RedisError.self) {
            try await server.client().run(write, keys: [], arguments: [])
        }
        #expect(replica?.isServer("READONLY") == true)
    }
}
extension RedisClient {
    /// How many clients wait in a blocking command.
    var blockedClients: Int {
        get async throws {
            let text = try await send(["INFO", "clients"]).string ?? ""
            let line = text.split(separator: "\r\n").first { $0.hasPrefix("blocked_clients:") }
            return line.flatMap { Int($0.dropFirst(16)) } ?? 0
        }
    }
}
