import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ClusterTests {
    private static let script = RedisScript(
        name: "count", source: Array("redis.call('EXISTS', KEYS[1] .. '-') return redis.call('INCR', KEYS[1])".utf8))

    @Test func `the client finds the node of a key, follows a migrated slot and a failover`() async throws {
        let cluster = try await RedisCluster()
        let client = RedisClient(url: try cluster.url, name: "test", key: "{q}:n", timeout: .seconds(20))
        #expect(try await client.port == cluster.ports[0])
        #expect(try await client.run(Self.script, keys: ["{q}:n"], arguments: []).integer == 1)
        // Any node, as one server: it tells where to go.
        let simple = RedisClient(
            url: try RedisURL("redis://127.0.0.1:\(cluster.ports[1])"), name: "simple", timeout: .seconds(60))
        #expect(try await simple.port == cluster.ports[1])
        let replies = try await simple.pipeline([["GET", "{q}:n"], ["PING"], ["SET", "{q}:m", "m"]])
        #expect(replies == [.bytes(Array("1".utf8)), .text("PONG"), .text("OK")])
        #expect(try await simple.port == cluster.ports[0])

        let move = try await SlotMove(cluster, "{q}:n")
        try await move.begin()
        try await move.carry(["{q}:n"])
        // What has gone is asked for where it is, what has not stays, and a script waits until all is there.
        #expect(try await simple.pipeline([["GET", "{q}:n"], ["GET", "{q}:m"]]).map(\.string) == ["1", "m"])
        #expect(try await simple.port == cluster.ports[0])
        // A client sends the script again until an eighth of its timeout is left. The last reply must arrive within that time.
        func failure(_ key: String) async throws -> RedisError? {
            let client = RedisClient(url: try cluster.url, name: "hasty", key: key, timeout: .seconds(4))
            do throws(RedisError) {
                _ = try await client.run(Self.script, keys: [key], arguments: [])
                return nil
            } catch { return error }
        }
        async let gone = failure("{q}:n")
        // Where its key still is, the script meets one that is not.
        async let split = failure("{q}:m")
        #expect(try await gone?.isTransient == true)
        // Its timeout names another reason if the machine stands still meanwhile.
        if try await split?.isServer("TRYAGAIN") != true {
            try await eventually("the script meets a key that has gone") {
                try await failure("{q}:m")?.isServer("TRYAGAIN") == true
            }
        }
        async let count = client.run(Self.script, keys: ["{q}:n"], arguments: [])
        try await move.carry(["{q}:m"])
        try await move.end()
        #expect(try await count.integer == 2)
        #expect(try await client.port == cluster.ports[1])
        #expect(try await simple.send(["GET", "{q}:n"]).integer == 2)
        #expect(try await simple.port == cluster.ports[1])

        // Back where there is a replica.
        let back = try await SlotMove(cluster, "{q}:n", from: 1, to: 0)
        try await back.begin()
        try await back.carry(["{q}:n", "{q}:m"])
        try await back.end()
        #expect(try await client.run(Self.script, keys: ["{q}:n"], arguments: []).integer == 3)
        try await eventually("the replica has it") { try await client.send(["WAIT", 1, 2000]).integer == 1 }
        try await cluster.failOver()
        let failure = await #expect(throws: RedisError.self) { try await client.send(["GET", "{q}:n"]) }
        #expect(failure?.isTransient == true)
        try await eventually("the client is back") {
            (try? await client.run(Self.script, keys: ["{q}:n"], arguments: []).integer) == 4
        }
        #expect(try await client.port == cluster.ports[3])
        try await eventually("so is one that knew no key") {
            (try? await simple.send(["GET", "{q}:n"]).integer) == 4
        }
    }

    @Test func `a silent node is skipped and leaves the others their share of the time`() async throws {
        let server = try await RedisServer(["port": "\(try RedisCluster.freePort())", "cluster-enabled": "yes"])
        let slots: [RedisArgument] = ["CLUSTER", "ADDSLOTS"] + (0..<16_384).map { .init($0) }
        _ = try await server.client().send(RedisCommand(slots))
        try await eventually("the node is whole") {
            try await server.info("CLUSTER", "INFO").contains("cluster_state:ok")
        }
        let port = try await server.client().port
        let deaf = try await RedisServer(["port": "\(try LoopbackPort.free())"])
        let deafPort = try await deaf.client().port
        deaf.freeze()
        let url = try RedisURL("redis+cluster://127.0.0.1:\(deafPort),127.0.0.1:\(port)")
        let client = RedisClient(url: url, name: "test", key: "k", timeout: .seconds(6))
        // Within one timeout, unless the machine stands still for a part of it.
        try await eventually("an answer") { (try? await client.send(["SET", "k", "v"])) == .text("OK") }
    }
}
