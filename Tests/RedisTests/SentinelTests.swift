import TestSupport
import Testing

@testable import Redis

@Suite(.failureReport, .timeLimit(.minutes(5))) struct SentinelTests {
    @Test func `the client follows the master when it changes and when it is killed`() async throws {
        let trio = try await SentinelTrio()
        let client = RedisClient(url: try trio.url, name: "test", timeout: .seconds(10))
        let bell = BlockingRedisClient(url: try trio.url, name: "bell", timeout: .seconds(10))
        let wait: RedisCommand = ["XREADGROUP", "GROUP", "bell", "w", "BLOCK", "100", "STREAMS", "in", ">"]
        _ = try await client.send(["XGROUP", "CREATE", "in", "bell", "0", "MKSTREAM"])
        try await eventually("the bell waits") { (try? await bell.block(wait, for: .milliseconds(100))) == .null }
        // What the replica has not heard of by then is forgotten with its master.
        try await eventually("the replica has the group") { try await client.send(["WAIT", 1, 1000]).integer == 1 }

        _ = try await trio.ask(0, "FAILOVER")
        try await eventually("the sentinels name the other") {
            try await trio.master() == trio.ports[1]
        }
        // The old master still says that it is one, for ten seconds: only the sentinels know.
        try await eventually("the client follows") { try await client.port == trio.ports[1] }
        try await eventually("the bell waits") { (try? await bell.block(wait, for: .milliseconds(100))) == .null }
        _ = try await client.send(["SET", "k", "v"])
        #expect(try await trio.servers[1].client().send(["GET", "k"]).string == "v")

        // As the sentinels do when those ten seconds are over.
        _ = try await trio.servers[0].client().send(["REPLICAOF", "127.0.0.1", .init("\(trio.ports[1])")])
        try await eventually("the old master follows") {
            try await trio.servers[0].client().send(["GET", "k"]).string == "v"
        }
        try await trio.failOver(from: 1)
        try await eventually("the client is back") {
            (try? await client.send(["GET", "k"]).string) == "v"
        }
        try await eventually("the bell is back") { (try? await bell.block(wait, for: .milliseconds(100))) == .null }
        #expect(try await client.port == trio.ports[0])

        var topology = RedisTopology(url: try trio.url, key: nil, interruption: Interruption())
        let found = try topology.locate(until: Deadline(after: .seconds(60)))
        #expect(found.addresses == [.tcp(host: "127.0.0.1", port: trio.ports[0])])

        // One sentinel is gone, the next says nothing: the third tells.
        trio.killSentinel(0)
        trio.freezeSentinel(1)
        for client in [client, RedisClient(url: try trio.url, name: "late")] {
            try await eventually("the third is asked") { (try? await client.port) == trio.ports[0] }
        }

        // None is there: they are asked ever more rarely, and the master stays the one that they named.
        for index in 1...2 { trio.killSentinel(index) }
        for seconds in [2, 4] {
            while topology.interval < .seconds(seconds) {
                let hasMoved = topology.hasMoved()
                #expect(!hasMoved)
                try await Task.sleep(for: .milliseconds(50))
            }
            let interval = topology.interval
            #expect(interval == .seconds(seconds))
        }
    }

    @Test func `the sentinel and the master are reached over TLS, each with its own account`() async throws {
        let certificates = try await Certificates()
        let (port, own) = (try LoopbackPort.free(), try LoopbackPort.free())
        let server = try await RedisServer(certificates.options(port: port))
        _ = try await server.client().send(["ACL", "SETUSER", "ann", "on", ">one", "~*", "+@all"])
        let options = certificates.options(port: own).map { "\($0.key) \($0.value)" }.joined(separator: "\n")
        let file = try certificates.folder.write(
            "sentinel.conf",
            text: """
                port 0
                \(options)
                tls-replication yes
                dir \(certificates.folder.path)
                sentinel monitor main 127.0.0.1 \(port) 1
                user default off
                user bob on >two &+switch-master -@all +subscribe +sentinel|get-master-addr-by-name

                """)
        let sentinel = try await ChildProcess(RedisServer.program, [file, "--sentinel"])
        let query = "ca=\(certificates.authority)&sentinel_user=bob&sentinel_password=two"
        let client = RedisClient(
            url: try RedisURL("rediss+sentinel://ann:one@localhost:\(own)/main?\(query)"), name: "test")
        try await eventually("the sentinel answers") { (try? await client.send(["PING"])) == .text("PONG") }
        #expect(try await client.send(["ACL", "WHOAMI"]).string == "ann")
        withExtendedLifetime((server, sentinel)) {}
    }

    @Test func `a name that no sentinel monitors is reported`() async throws {
        let port = try LoopbackPort.free()
        let folder = try TemporaryFolder()
        let file = try folder.write("sentinel.conf", text: "port \(port)\nbind 127.0.0.1\ndir \(folder.path)\n")
        let sentinel = try await ChildProcess(RedisServer.program, [file, "--sentinel"])
        let client = RedisClient(
            url: try RedisURL("redis+sentinel://127.0.0.1:\(port)/nobody"), name: "test", timeout: .seconds(60))
        try await eventually("the sentinel says it") {
            do throws(RedisError) { _ = try await client.send(["PING"]) } catch {
                return error.description.contains("has no master named 'nobody'") && error.isTransient
            }
            return false
        }
        withExtendedLifetime(sentinel) {}
    }
}
