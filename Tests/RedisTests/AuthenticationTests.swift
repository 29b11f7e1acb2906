import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct AuthenticationTests {
    @Test func `a client presents an ACL user, who may do only what the server allows`() async throws {
        let server = try await RedisServer()
        _ = try await server.client().send(
            ["ACL", "SETUSER", "ann", "on", ">se@cret/1", "~jobs:*", "+get", "+set", "+ping"])
        let client = RedisClient(
            url: try RedisURL("unix://ann:se%40cret%2F1@\(server.socket)"), name: "refused to ann",
            timeout: .seconds(60))
        #expect(try await client.send(["SET", "jobs:1", "x"]) == .text("OK"))
        let error = await #expect(throws: RedisError.self) { try await client.send(["SET", "other", "x"]) }
        #expect(error?.isServer("NOPERM") == true)
    }

    @Test func `a wrong or missing password is reported and never repeated`() async throws {
        let server = try await RedisServer()
        _ = try await server.client().send(["CONFIG", "SET", "requirepass", "right"])
        let right = RedisClient(
            url: try RedisURL("unix://:right@\(server.socket)"), name: "right", timeout: .seconds(60))
        #expect(try await right.send(["PING"]) == .text("PONG"))

        let wrong = RedisClient(
            url: try RedisURL("unix://:sesame@\(server.socket)"), name: "wrong", timeout: .seconds(60))
        let refusal = await #expect(throws: RedisError.self) { try await wrong.send(["PING"]) }
        #expect(refusal?.isServer("WRONGPASS") == true)
        #expect(refusal?.description.contains("sesame") == false)
        #expect(refusal?.isTransient == false)

        let missing = await #expect(throws: RedisError.self) { try await server.client().send(["PING"]) }
        #expect(missing?.isServer("NOAUTH") == true)
    }

    @Test func `a server without AUTH logs no password`() async throws {
        let folder = try TemporaryFolder()
        let configuration = try folder.write("extra.conf", text: "rename-command AUTH \"\"\n")
        let server = try await RedisServer(["include": configuration])
        let client = RedisClient(
            url: try RedisURL("unix://:sesame@\(server.socket)"), name: "test", timeout: .seconds(60))
        let error = await #expect(throws: RedisError.self) { try await client.send(["PING"]) }
        #expect(error?.isServer("ERR") == true)
        #expect(error?.description.contains("sesame") == false)
    }
}
