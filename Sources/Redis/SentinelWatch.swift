import Lifecycle

/// A sentinel that has reported the master, and publishes when the master changes.
struct SentinelWatch: ~Copyable {
    let sentinel: RedisURL.Address
    /// The master's host.
    let host: String
    let port: UInt16
    private let subscription: RedisConnection?

    /// Whether the connection to the sentinel is open and nothing was received since, as far as the local socket shows.
    func isQuiet() -> Bool {
        switch subscription {
        case .some(let connection): connection.seemsAlive()
        case .none: true
        }
    }

    /// Queries the sentinel for the master of that name.
    static func open(
        _ url: RedisURL, of master: String, until deadline: Deadline, interruption: Interruption
    ) throws(RedisError) -> SentinelWatch {
        func connect() throws(RedisError) -> RedisConnection {
            try .open(url, name: "respool-sentinel", until: deadline, interruption: interruption)
        }
        // Subscribes before the query; otherwise a change between the two would be missed.
        var listener = try connect()
        let answer = try listener.send([["SUBSCRIBE", "+switch-master"]], until: deadline)[0]
        var connection = try connect()
        let place = try connection.send(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", .text(master)], until: deadline)
        guard let parts = place.array, parts.count == 2, let host = parts[0].string,
            let port = parts[1].integer.flatMap({ UInt16(exactly: $0) })
        else { throw .connection("the sentinel at \(url) has no master named '\(master)'") }
        // An account without permission to subscribe detects a change by the errors of the master.
        guard answer.array != nil else {
            return SentinelWatch(sentinel: url.addresses[0], host: host, port: port, subscription: nil)
        }
        return SentinelWatch(sentinel: url.addresses[0], host: host, port: port, subscription: consume listener)
    }
}
