import Lifecycle

/// The nodes of a cluster, as one of them reports them.
struct ClusterMap {
    /// The node that reported the map.
    let source: RedisURL.Address
    /// The master that has the key's hash slot.
    let owner: RedisURL.Address
    /// All nodes, including replicas.
    private(set) var nodes: [RedisURL.Address] = []

    /// Requests the map from the node at the address.
    static func ask(
        _ url: RedisURL, at source: RedisURL.Address, for key: String, until deadline: Deadline,
        interruption: Interruption
    ) throws(RedisError) -> ClusterMap {
        let node = url.server(at: source)
        var connection = try RedisConnection.open(
            node, name: "respool-cluster", until: deadline, interruption: interruption)
        let replies = try connection.send(
            [["CLUSTER", "KEYSLOT", .text(key)], ["CLUSTER", "SLOTS"]], until: deadline)
        // An account without permission gets redirections from the first command instead; a server that is not in a
        // cluster needs none.
        if case .error(let error) = replies[1], ["NOPERM", "ERR"].contains(error.code) {
            return ClusterMap(source: source, owner: source)
        }
        guard let slot = try replies[0].get().integer, let ranges = try replies[1].get().array else {
            throw .unexpectedReply("not a map of slots")
        }
        var nodes: [RedisURL.Address] = []
        var owner: RedisURL.Address?
        for range in ranges.compactMap(\.array) where range.count > 2 {
            let addresses = range.dropFirst(2).compactMap { address($0, url, source) }
            if let first = range[0].integer, let last = range[1].integer, first <= slot, slot <= last {
                owner = addresses.first
            }
            nodes += addresses.filter { !nodes.contains($0) }
        }
        guard let owner else { throw .server(code: "CLUSTERDOWN", message: "no node has slot \(slot)") }
        return ClusterMap(source: source, owner: owner, nodes: nodes)
    }

    /// A node is a list of host, port and more; without a host, it has the host of the node that replied.
    private static func address(
        _ node: RedisValue, _ url: RedisURL, _ source: RedisURL.Address
    ) -> RedisURL.Address? {
        guard let parts = node.array, parts.count >= 2, let port = parts[1].integer.flatMap({ UInt16(exactly: $0) })
        else { return nil }
        let host = parts[0].string ?? ""
        return url.address(host: host.isEmpty || host == "?" ? source.host ?? "" : host, port: port)
    }
}
