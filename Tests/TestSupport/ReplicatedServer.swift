import Redis

/// A primary and its replica. Both are stopped when this object is released or the process ends.
package final class ReplicatedServer: Sendable {
    package let primary: RedisServer
    package let replica: RedisServer

    /// Starts a replica of the server, which listens on the port, and waits until it is synchronized.
    package init(of primary: RedisServer, port: UInt16) async throws {
        self.primary = primary
        replica = try await RedisServer()
        let client = replica.client()
        _ = try await client.send(["REPLICAOF", "127.0.0.1", .init(port)])
        try await eventually("the replica follows") {
            try await client.send(["INFO", "replication"]).string?.contains("master_link_status:up") == true
        }
        await client.close()
    }

    /// Options of the primary that make the replica synchronize at once, and prevent replication traffic other than writes.
    package static func options(port: UInt16) -> KeyValuePairs<String, String> {
        ["port": "\(port)", "repl-diskless-sync-delay": "0", "repl-ping-replica-period": "3600"]
    }

    /// The number of bytes that the primary has sent to its replicas.
    package func replicatedBytes() async throws -> Int {
        let client = primary.client()
        let text = try await client.send(["INFO", "replication"]).string ?? ""
        await client.close()
        return text.firstMatch(of: /master_repl_offset:(\d+)/).flatMap { Int($0.1) } ?? -1
    }
}
