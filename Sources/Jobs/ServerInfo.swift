import Redis

/// The parts of the server's `INFO` and settings that matter to a queue.
package struct ServerInfo: Sendable, Hashable, Encodable {
    /// `Redis` or `Valkey`.
    package let name: String
    /// The server's own version, such as `7.0.15`.
    package let version: String
    /// `master` or `slave`, in the terms of Redis.
    package let role: String
    /// The number of connected replicas.
    package let replicas: Int
    /// The eviction policy when the memory is full (`maxmemory-policy`).
    package let maxmemoryPolicy: String
    /// Bytes; 0 if there is no limit.
    package let maxmemory: Int64
    /// Bytes.
    package let usedMemory: Int64
    /// Whether the append-only file is enabled.
    package let isAppendOnly: Bool
    /// `always`, `everysec` or `no`; `nil` if the server does not report it.
    package let appendfsync: String?
    /// The maximum size of a field in bytes that Redis accepts; `nil` if the server does not report it.
    package let maxBulkBytes: Int64?
    /// Recent writes that failed on the server.
    package let failedWrites: [String]

    private enum CodingKeys: String, CodingKey {
        case name, version, role, replicas, maxmemory, appendfsync
        case maxmemoryPolicy = "maxmemory_policy"
        case usedMemory = "used_memory"
        case isAppendOnly = "appendonly"
        case maxBulkBytes = "proto_max_bulk_len"
        case failedWrites = "failed_writes"
    }

    /// The server's name by its `INFO server`.
    static func name(_ info: [String: String]) -> String { info["valkey_version"] == nil ? "Redis" : "Valkey" }

    init(info: [String: String], appendfsync: String?, maxBulkBytes: Int64?) {
        name = Self.name(info)
        // `redis_version` of Valkey is the version of Redis that it is compatible with.
        version = info["valkey_version"] ?? info["redis_version"] ?? ""
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
    /// Reads information about the server; needs `INFO`, and `CONFIG` only for values that `INFO` does not have.
    package func serverInfo() async throws(QueueError) -> ServerInfo {
        let sections = try await send(["server", "replication", "memory", "persistence"].map { ["INFO", .text($0)] })
        let info = sections.map { Self.infoFields($0.string ?? "") }.reduce(into: [:]) { $0.merge($1) { $1 } }
        // Hosted servers reject `CONFIG`.
        func setting(_ name: String) async -> String? {
            try? await send([["CONFIG", "GET", .text(name)]])[0].dictionary?[name]?.string
        }
        return ServerInfo(
            info: info, appendfsync: await setting("appendfsync"),
            maxBulkBytes: await setting("proto-max-bulk-len").flatMap { Int64($0) })
    }
}
