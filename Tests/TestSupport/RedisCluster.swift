import Glibc
import Lifecycle
package import Redis

/// A Redis cluster of three masters, one of which has a replica. It is stopped when this object is released or the process
/// ends.
package final class RedisCluster: Sendable {
    /// The master that has all slots except two, the two other masters, and the replica of the first.
    package let nodes: [RedisServer]
    package let ports: [UInt16]

    /// Starts the cluster, and waits until it is available. The master with a replica has all slots except the last two.
    ///
    /// Each node starts with the cluster's configuration on its disk, because discovery takes seconds.
    package init() async throws {
        let ports = try (0..<4).map { _ in try Self.freePort() }
        let names = (1...4).map { String(repeating: "\($0)", count: 40) }
        let slots = ["0-16381", "16382", "16383", ""]
        nodes = try await Self.start(ports) { own in
            let lines = (0..<4).map { index in
                let role = (index == own ? "myself," : "") + (index < 3 ? "master -" : "slave \(names[0])")
                let epoch = index < 3 ? index + 1 : 1
                return
                    "\(names[index]) 127.0.0.1:\(ports[index])@\(ports[index] + 10_000) \(role) 0 0 \(epoch) connected \(slots[index])"
            }
            return lines.joined(separator: "\n") + "\nvars currentEpoch 4 lastVoteEpoch 0\n"
        }
        self.ports = ports
        try await eventually("the cluster is whole", every: .milliseconds(50)) {
            for node in nodes {
                guard try await node.info("CLUSTER", "INFO").contains("cluster_state:ok") else { return false }
            }
            return try await nodes[3].info("INFO", "replication").contains("master_link_status:up")
        }
    }

    /// Kills the first master, and waits until its replica has taken over.
    package func failOver() async throws {
        try await shortenTimeouts()
        await nodes[0].kill()
        try await eventually("the replica is the master") {
            try await nodes[3].info("INFO", "replication").contains("role:master")
        }
    }

    /// Kills a master without a replica, and waits until the other nodes reject requests.
    package func breakApart() async throws {
        try await shortenTimeouts()
        await nodes[1].kill()
        try await eventually("the cluster is down") {
            try await nodes[0].info("CLUSTER", "INFO").contains("cluster_state:fail")
        }
    }

    /// Restarts the killed master.
    package func mend() async throws { try await nodes[1].restart() }

    /// The timeout is short only directly before a node is killed. On a busy machine, a short timeout would make nodes appear
    /// to have failed.
    private func shortenTimeouts() async throws {
        for node in nodes { _ = try await node.client().send(["CONFIG", "SET", "cluster-node-timeout", 1000]) }
    }

    /// The URL of the two masters that have one slot each.
    package var url: RedisURL {
        get throws { try RedisURL("redis+cluster://127.0.0.1:\(ports[1]),127.0.0.1:\(ports[2])") }
    }

    /// A free port whose cluster bus port, 10,000 above, is free too. Both are below the range of ephemeral ports.
    package static func freePort() throws -> UInt16 {
        while true {
            let port = UInt16.random(in: 10_000..<22_000)
            do {
                _ = try LoopbackPort.free(port + 10_000)
                return try LoopbackPort.free(port)
            } catch {
                guard error.rawValue == EADDRINUSE else { throw error }
            }
        }
    }

    private static func start(_ ports: [UInt16], map: (Int) -> String) async throws -> [RedisServer] {
        var nodes: [RedisServer] = []
        for (index, port) in ports.enumerated() {
            let folder = try TemporaryFolder()
            try folder.write("nodes.conf", text: map(index))
            nodes.append(
                try await RedisServer(
                    [
                        "port": "\(port)", "bind": "127.0.0.1", "cluster-enabled": "yes",
                        "cluster-node-timeout": "15000",
                        "cluster-replica-validity-factor": "0", "repl-diskless-sync-delay": "0",
                    ], in: folder))
        }
        return nodes
    }
}

extension RedisServer {
    /// The server's reply to an informational command, as text.
    package func info(_ words: RedisArgument...) async throws -> String {
        try await client().send(RedisCommand(words)).string ?? ""
    }
}

extension RedisClient {
    /// The port of the server that replies.
    package var port: UInt16 {
        get async throws { UInt16(try await send(["CONFIG", "GET", "port"]).array?.last?.integer ?? 0) }
    }
}
