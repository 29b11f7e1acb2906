import Redis

/// What a queue needs of the server's `INFO` and settings.
package struct ServerInfo: Sendable, Hashable, Encodable {
    package let version: String
    /// `master` or `slave`, as Redis calls them.
    package let role: String
    package let replicas: Int
    package let maxmemoryPolicy: String
    /// Bytes; 0 if there is no limit.
    package let maxmemory: Int64
    package let usedMemory: Int64
    package let isAppendOnly: Bool
    /// `always`, `everysec` or `no`; nothing if the server does not say.
    package let appendfsync: String?
    /// How many bytes a field of a pushed job may have before Redis refuses it; nothing if the server does not say.
    package let maxBulkBytes: Int64?
    /// What the server could not write of late.
    package let failedWrites: [String]

    private enum CodingKeys: String, CodingKey {
        case version, role, replicas, maxmemory, appendfsync
        case maxmemoryPolicy = "maxmemory_policy"
        case usedMemory = "used_memory"
        case isAppendOnly = "appendonly"
        case maxBulkBytes = "proto_max_bulk_len"
        case failedWrites = "failed_writes"
    }

    init(info: [String: String], appendfsync: String?, maxBulkBytes: Int64?) {
        version = info["redis_version"] ?? ""
        role = info["role"] ?? ""
        replicas = info["connected_slaves"].flatMap { Int($0) } ?? 0
        maxmemoryPolicy = info["maxmemory_policy"] ?? ""
        maxmemory = info["maxmemory"].flatMap { Int64($0) } ?? 0
        usedMemory = info["used_memory"].flatMap { Int64($0) } ?? 0
        isAppendOnly = info["aof_enabled"] == "1"
        self.appendfsync = isAppendOnly ? appendfsync : nil
        self.maxBulkBytes = maxBulkBytes
        failedWrites = [
            ("aof_last_write_status", "the append-only file"), ("aof_last_bgrewrite_status", "its rewrite"),
            ("rdb_last_bgsave_status", "the snapshot"),
        ].filter { info[$0.0] == "err" }.map(\.1)
    }
}

extension JobQueue {
    /// Asks the server about itself; needs `INFO`, and `CONFIG` only for what `INFO` does not say.
    package func serverInfo() async throws(QueueError) -> ServerInfo {
        let sections = try await send(["server", "replication", "memory", "persistence"].map { ["INFO", .text($0)] })
        let info = sections.map { Self.infoFields($0.string ?? "") }.reduce(into: [:]) { $0.merge($1) { $1 } }
        // Hosted servers refuse `CONFIG`.
        func setting(_ name: String) async -> String? {
            try? await send([["CONFIG", "GET", .text(name)]])[0].dictionary?[name]?.string
        }
        return ServerInfo(
            info: info, appendfsync: await setting("appendfsync"),
            maxBulkBytes: await setting("proto-max-bulk-len").flatMap { Int64($0) })
    }
}
