import Redis

/// The migration of a slot from one node of a cluster to another, key by key.
package struct SlotMove {
    private let source: RedisClient
    private let target: RedisClient
    private let names: [String]
    private let port: UInt16
    private let slot: RedisArgument

    /// A migration of the key's slot between two of the nodes.
    package init(_ cluster: RedisCluster, _ key: String, from: Int = 0, to: Int = 1) async throws {
        source = cluster.nodes[from].client()
        target = cluster.nodes[to].client()
        port = cluster.ports[to]
        names = [
            try await source.send(["CLUSTER", "MYID"]).string ?? "",
            try await target.send(["CLUSTER", "MYID"]).string ?? "",
        ]
        slot = .init(try await source.send(["CLUSTER", "KEYSLOT", .text(key)]).integer ?? 0)
    }

    /// Marks the slot as importing and migrating on the two nodes.
    package func begin() async throws {
        _ = try await target.send(["CLUSTER", "SETSLOT", slot, "IMPORTING", .text(names[0])])
        _ = try await source.send(["CLUSTER", "SETSLOT", slot, "MIGRATING", .text(names[1])])
    }

    /// The keys of the slot that are still on the source node.
    package func rest() async throws -> [String] {
        try await source.send(["CLUSTER", "GETKEYSINSLOT", slot, 100_000]).array?.compactMap(\.string) ?? []
    }

    /// Migrates the keys.
    package func carry(_ keys: [String]) async throws {
        let command: [RedisArgument] = ["MIGRATE", "127.0.0.1", .init(port), "", 0, 5000, "KEYS"]
        _ = try await source.send(RedisCommand(command + keys.map { .text($0) }))
    }

    /// Assigns the slot to the target node.
    package func end() async throws {
        _ = try await target.send(["CLUSTER", "SETSLOT", slot, "NODE", .text(names[1])])
        _ = try await source.send(["CLUSTER", "SETSLOT", slot, "NODE", .text(names[1])])
    }
}
