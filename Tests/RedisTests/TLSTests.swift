import Glibc
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TLSTests {
    @Test func `the client trusts a server that the authority certifies, by name and by address`() async throws {
        let certificates = try await Certificates()
        let port = try LoopbackPort.free()
        let server = try await RedisServer(certificates.options(port: port))
        for host in ["localhost", "127.0.0.1"] {
            let url = try RedisURL("rediss://\(host):\(port)/2?ca=\(certificates.authority)")
            let client = RedisClient(url: url, name: "tls", timeout: .seconds(60))
            let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
            #expect(try await client.send(["SET", "long", .bytes(long)]) == .text("OK"))
            let replies = try await client.pipeline(Array(repeating: ["GET", "long"], count: 20))
            #expect(replies.allSatisfy { $0 == .bytes(long) })

            _ = try await server.client().send(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
            #expect(try await client.send(["STRLEN", "long"]) == .integer(300_000))
        }
    }

    @Test func `a server of another name or of another authority is refused`() async throws {
        let certificates = try await Certificates()
        try await certificates.sign("other", names: "DNS:redis.example,IP:127.0.0.9")
        let port = try LoopbackPort.free()
        let server = try await RedisServer(certificates.options(port: port, "other"))
        for host in ["localhost", "127.0.0.1"] {
            let url = try RedisURL("rediss://\(host):\(port)?ca=\(certificates.authority)")
            let error = await #expect(throws: RedisError.self) {
                try await RedisClient(url: url, name: "tls").send(["PING"])
            }
            #expect(error?.description.contains("mismatch") == true)
        }
        let system = RedisClient(url: try RedisURL("rediss://localhost:\(port)"), name: "tls", timeout: .seconds(60))
        let error = await #expect(throws: RedisError.self) { try await system.send(["PING"]) }
        #expect(error?.description.contains("certificate is rejected") == true)
        await server.kill()
    }

    @Test func `an unreadable authorities file and a server without TLS are reported`() async throws {
        let certificates = try await Certificates()
        let port = try LoopbackPort.free()
        let server = try await RedisServer(["port": "\(port)"])
        let missing = RedisClient(
            url: try RedisURL("rediss://localhost:\(port)?ca=/nowhere/ca.pem"), name: "tls", timeout: .seconds(60))
        let unreadable = await #expect(throws: RedisError.self) { try await missing.send(["PING"]) }
        #expect(unreadable?.description.contains("'/nowhere/ca.pem'") == true)
        let url = try RedisURL("rediss://localhost:\(port)?ca=\(certificates.authority)")
        let plain = RedisClient(url: url, name: "tls", timeout: .milliseconds(300))
        await #expect(throws: RedisError.self) { try await plain.send(["PING"]) }
        await server.kill()
    }

    @Test func `the client shows its certificate to a server that asks for one`() async throws {
        let certificates = try await Certificates()
        try await certificates.sign("client", names: "DNS:worker")
        let port = try LoopbackPort.free()
        let server = try await RedisServer(certificates.options(port: port, asksClients: true))
        let (ca, cert) = (certificates.authority, certificates.folder.file("client.pem"))
        let key = certificates.folder.file("client.key")
        func error(_ query: String) async throws -> String? {
            let client = RedisClient(url: try RedisURL("rediss://localhost:\(port)?\(query)"), name: "tls")
            do throws(RedisError) { _ = try await client.send(["PING"]) } catch { return error.description }
            return nil
        }
        #expect(try await error("ca=\(ca)&cert=\(cert)&key=\(key)") == nil)
        #expect(try await error("ca=\(ca)") != nil)
        #expect(try await error("ca=\(ca)&cert=/nowhere/c.pem")?.contains("'/nowhere/c.pem'") == true)
        let other = certificates.folder.file("server.key")
        #expect(
            try await error("ca=\(ca)&cert=\(cert)&key=\(other)")?.contains("'\(other)' is not the private key") == true
        )
        #expect(try await error("ca=\(ca)&cert=\(cert)")?.contains("is not the private key") == true)
        let locked = certificates.folder.file("locked.key")
        let lock = try await ChildProcess.run(
            "openssl", ["pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", locked])
        #expect(lock.succeeded)
        #expect(try await error("ca=\(ca)&cert=\(cert)&key=\(locked)")?.contains("has a passphrase") == true)
        await server.kill()
    }

    @Test func `a process that does not ignore SIGPIPE outlives a server that goes away`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let certificates = try await Certificates()
            let port = try LoopbackPort.free()
            let server = try await RedisServer(certificates.options(port: port))
            let addresses = ["rediss://localhost:\(port)?ca=\(certificates.authority)", "\(server.url)"]
            let connections = try addresses.map { try OpenConnection(RedisURL($0)) }
            await server.kill()
            for connection in connections {
                for _ in 0..<3 { #expect(throws: RedisError.self) { try connection.ping() } }
            }
        }
    }
}

/// A connection that is used even when it is known to be broken, as no client does.
private final class OpenConnection {
    private var connection: RedisConnection

    init(_ url: RedisURL) throws { connection = try .open(url, name: "pipe", until: Deadline(after: .seconds(5))) }

    func ping() throws { _ = try connection.send(["PING"], until: Deadline(after: .seconds(5))) }
}
