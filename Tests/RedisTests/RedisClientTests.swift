import Redis
import TestSupport
import Testing

@Suite struct RedisClientTests {
    @Test func `pings a server`() async throws {
        let server = try await RedisServer()
        #expect(try await server.client().send(["PING"]) == .text("PONG"))
    }
}
