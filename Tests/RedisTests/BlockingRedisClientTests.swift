import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct BlockingRedisClientTests {
    private func read(_ milliseconds: Int) -> RedisCommand {
        [
            "XREADGROUP", "GROUP", "bell", "w", "COUNT", 1, "BLOCK", .init(milliseconds), "NOACK", "STREAMS", "in", ">",
        ]
    }

    private func start() async throws -> RedisServer {
        let server = try await RedisServer()
        _ = try await server.client().send(["XGROUP", "CREATE", "in", "bell", 0, "MKSTREAM"])
        return server
    }

    @Test func `a blocking read waits for an entry, or until its timeout`() async throws {
        let server = try await start()
        let bell = BlockingRedisClient(url: server.url, name: "bell", timeout: .seconds(60))
        try await eventually("no entry") { (try? await bell.block(read(20), for: .milliseconds(20))) == .null }
        async let entry = bell.block(read(30_000), for: .seconds(30))
        try await eventually("the call waits") { try await server.client().blockedClients == 1 }
        _ = try await server.client().send(["XADD", "in", "*", "source", "x"])
        #expect(try await entry.array?.count == 1)
        await #expect(throws: RedisError.self) { try await bell.block(["XREADGROUP"], for: .seconds(1)) }
        try await eventually("no entry") { (try? await bell.block(read(20), for: .milliseconds(20))) == .null }
    }

    @Test func `a silent connection is presumed dead and is replaced`() async throws {
        let server = try await start()
        let bell = BlockingRedisClient(url: server.url, name: "bell", timeout: .milliseconds(500))
        // On a busy machine, it may take longer to connect.
        try await eventually("a connection") { (try? await bell.block(read(10), for: .milliseconds(10))) == .null }
        server.freeze()
        let error = await #expect(throws: RedisError.self) { try await bell.block(read(200), for: .milliseconds(200)) }
        #expect(error?.description.contains("no response within 1.2 s") == true)
        await #expect(throws: RedisError.self) { try await bell.block(read(200), for: .milliseconds(200)) }
        server.thaw()
        try await eventually("a new connection") { (try? await bell.block(read(10), for: .milliseconds(10))) == .null }
    }

    @Test func `a cut connection and a killed server are noticed at once`() async throws {
        let server = try await start()
        let bell = BlockingRedisClient(url: server.url, name: "bell", timeout: .seconds(60))
        for cut in [{ _ = try await server.client().send(["CLIENT", "KILL", "TYPE", "normal"]) }, server.kill] {
            async let reply = bell.block(read(30_000), for: .seconds(30))
            try await eventually("the call waits") { try await server.client().blockedClients == 1 }
            try await cut()
            do {
                _ = try await reply
                Issue.record("no error")
            } catch { #expect((error as? RedisError)?.isTransient == true) }
        }
    }

    @Test func `closing and cancelling end the wait at once`() async throws {
        let server = try await start()
        let bell = BlockingRedisClient(url: server.url, name: "bell", timeout: .seconds(60))
        let command = read(60_000)
        func wait() async throws -> Task<RedisError?, Never> {
            let task = Task { () async -> RedisError? in
                do throws(RedisError) { _ = try await bell.block(command, for: .seconds(60)) } catch { return error }
                return nil
            }
            try await eventually("the call waits") { try await server.client().blockedClients == 1 }
            return task
        }
        let first = try await wait()
        first.cancel()
        #expect(await first.value == .closed)
        try await eventually("the server has noticed") { try await server.client().blockedClients == 0 }
        try await eventually("no entry") { (try? await bell.block(read(10), for: .milliseconds(10))) == .null }

        let second = try await wait()
        await bell.close()
        #expect(await second.value == .closed)
        await #expect(throws: RedisError.closed) { try await bell.block(command, for: .seconds(60)) }
    }
}
