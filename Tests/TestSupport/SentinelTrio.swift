package import Redis

/// A master, a replica, and three sentinels that monitor them. All are stopped when this object is released or the process
/// ends.
package final class SentinelTrio: Sendable {
    /// The master and its replica.
    package let servers: [RedisServer]
    package let ports: [UInt16]
    private let sentinels: [ChildProcess]
    private let folder: TemporaryFolder
    private let sentinelPorts: [UInt16]

    /// Starts the servers, and waits until the sentinels have discovered all of them.
    ///
    /// The sentinels are configured with each other's addresses, because discovery takes seconds.
    package init() async throws {
        let folder = try TemporaryFolder()
        let ports = [try LoopbackPort.free(), try LoopbackPort.free()]
        let sentinelPorts = try (0..<3).map { _ in try LoopbackPort.free() }
        let master = try await RedisServer(["port": "\(ports[0])", "repl-diskless-sync-delay": "0"])
        let replica = try await RedisServer(["port": "\(ports[1])"])
        _ = try await replica.client().send(["REPLICAOF", "127.0.0.1", .init(ports[0])])
        try await eventually("the replica follows") {
            try await replica.info("INFO", "replication").contains("master_link_status:up")
        }
        var sentinels: [ChildProcess] = []
        for index in 0..<3 {
            let others = (0..<3).filter { $0 != index }.map {
                "sentinel known-sentinel main 127.0.0.1 \(sentinelPorts[$0]) \(Self.name($0))"
            }
            let file = try folder.write(
                "\(index).conf",
                text: """
                    port \(sentinelPorts[index])
                    bind 127.0.0.1
                    dir \(folder.path)
                    sentinel myid \(Self.name(index))
                    sentinel monitor main 127.0.0.1 \(ports[0]) 2
                    sentinel down-after-milliseconds main 15000
                    sentinel failover-timeout main 10000
                    sentinel known-replica main 127.0.0.1 \(ports[1])
                    \(others.joined(separator: "\n"))

                    """)
            sentinels.append(try await ChildProcess(RedisServer.program, [file, "--sentinel"]))
        }
        servers = [master, replica]
        self.ports = ports
        self.sentinels = sentinels
        self.folder = folder
        self.sentinelPorts = sentinelPorts
        try await eventually("the sentinels know all", every: .milliseconds(50)) {
            for index in 0..<3 {
                let replicas = try? await ask(index, "REPLICAS").array?.first?.dictionary
                guard replicas?["master-link-status"]?.string == "ok" else { return false }
            }
            return try await ask(0, "CKQUORUM").string?.hasPrefix("OK 3 ") == true
        }
    }

    /// The URL of the three sentinels.
    package var url: RedisURL { get throws { try RedisURL("redis+sentinel://\(places.joined(separator: ","))/main") } }

    /// Hosts and ports of the sentinels.
    package var places: [String] { sentinelPorts.map { "127.0.0.1:\($0)" } }

    /// Kills the current master, and waits until the sentinels report the other server as master.
    package func failOver(from old: Int) async throws {
        // The timeouts are short only now. On a busy machine, short timeouts would make servers appear to have failed.
        try await setTimeouts(downAfter: 1000, failover: 3000)
        await servers[old].kill()
        try await eventually("the sentinels name the other") {
            try await master() == ports[1 - old]
        }
        try await setTimeouts(downAfter: 15000, failover: 10000)
    }

    /// Sets the milliseconds after which sentinels take the master for lost, and repeat a failover.
    private func setTimeouts(downAfter: Int, failover: Int) async throws {
        for place in places {
            _ = try await RedisClient(url: try RedisURL("redis://\(place)"), name: "test").send([
                "SENTINEL", "SET", "main", "down-after-milliseconds", .init(downAfter), "failover-timeout",
                .init(failover),
            ])
        }
    }

    /// The reply of a sentinel to a command about the master.
    @discardableResult
    package func ask(_ index: Int, _ command: String) async throws -> RedisValue {
        try await RedisClient(url: try RedisURL("redis://\(places[index])"), name: "test").send([
            "SENTINEL", .text(command), "main",
        ])
    }

    /// The port of the master that the sentinel reports.
    package func master(_ index: Int = 0) async throws -> UInt16 {
        UInt16(try await ask(index, "GET-MASTER-ADDR-BY-NAME").array?.last?.integer ?? 0)
    }

    /// Kills a sentinel.
    package func killSentinel(_ index: Int) { sentinels[index].kill() }

    /// Suspends a sentinel with SIGSTOP. It keeps its connections and does not reply.
    package func freezeSentinel(_ index: Int) { sentinels[index].kill(19) }

    private static func name(_ index: Int) -> String { String(repeating: "\(index + 1)", count: 40) }
}
