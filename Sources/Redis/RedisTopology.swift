import Lifecycle

/// The current location of a client's server: the address itself, or the one that the sentinels or the nodes of a
/// cluster report.
///
/// The location is cached until an error of the server invalidates it, or a sentinel reports another master.
struct RedisTopology: ~Copyable {
    private let url: RedisURL
    private let key: String?
    private let interruption: Interruption
    /// The sentinels or nodes to query, in that order.
    private var sources: [RedisURL.Address]
    private var isCluster: Bool
    private var server: RedisURL.Address?
    private var watch: SentinelWatch?
    private var nextQuestion = Deadline(after: .zero)
    /// The interval between two queries of the sentinels. It grows while none replies, because each query delays a
    /// command.
    private(set) var interval: Duration = .seconds(1)

    /// The topology of the URL; in a cluster, the client needs the node that has the key.
    init(url: RedisURL, key: String?, interruption: Interruption) {
        self.url = url
        self.key = key
        self.interruption = interruption
        sources = url.addresses
        isCluster = url.topology == .cluster
    }

    /// The server to connect to; queries it if it is not known.
    mutating func locate(until deadline: Deadline) throws(RedisError) -> RedisURL {
        if let server { return url.server(at: server) }
        let found: RedisURL.Address
        if case .sentinels(let master) = url.topology {
            found = try askSentinels(master, until: deadline)
        } else if isCluster {
            found = try askNodes(until: deadline)
        } else {
            found = url.addresses[0]
        }
        server = found
        return url.server(at: found)
    }

    /// Discards the server's location, and moves the source that reported it last to the end.
    mutating func invalidate() {
        server = nil
        watch = nil
        sources.append(sources.removeFirst())
    }

    /// Records that another node of a cluster is the server.
    mutating func move(host: String, port: UInt16) {
        if !isCluster { sources = [server ?? url.addresses[0]] }
        isCluster = true
        let target = address(host: host, port: port)
        server = target
        if !sources.contains(target) { sources.append(target) }
    }

    /// The address of another node; without a host, it has the server's host.
    func address(host: String, port: UInt16) -> RedisURL.Address {
        url.address(host: host.isEmpty || host == "?" ? server?.host ?? url.addresses[0].host ?? "" : host, port: port)
    }

    /// Whether the sentinels now report another master. Queries them if the watched sentinel sent something or
    /// disconnected.
    ///
    /// While none replies, the master is the last one that was reported.
    mutating func hasMoved() -> Bool {
        guard case .sentinels(let master) = url.topology, let known = server else { return false }
        if watch?.isQuiet() == true || !nextQuestion.hasPassed { return false }
        guard let found = try? askSentinels(master, until: Deadline(after: .milliseconds(500))) else {
            interval = min(interval * 2, .seconds(10))
            nextQuestion = Deadline(after: interval)
            return false
        }
        interval = .seconds(1)
        nextQuestion = Deadline(after: interval)
        server = found
        return found != known
    }

    /// Throws unless the server accepts writes.
    func check(_ connection: inout RedisConnection, until deadline: Deadline) throws(RedisError) {
        guard case .sentinels = url.topology else { return }
        // An account without permission for `ROLE` gets the error at its first write instead.
        guard case .array(let parts) = try connection.send([["ROLE"]], until: deadline)[0],
            let role = parts.first?.string,
            role != "master"
        else { return }
        throw .server(code: "READONLY", message: "its role is \(role), although a sentinel reports it as the master")
    }

    private mutating func askSentinels(_ master: String, until deadline: Deadline) throws(RedisError)
        -> RedisURL.Address
    {
        watch = nil
        // One share of the time is left for the server itself.
        let limit = Deadline(after: deadline.remaining * sources.count / (sources.count + 1))
        let watch = try limit.first(of: sources) { [url, interruption] source, share throws(RedisError) in
            try SentinelWatch.open(url.sentinel(at: source), of: master, until: share, interruption: interruption)
        }
        let found = url.address(host: watch.host, port: watch.port)
        if let index = sources.firstIndex(of: watch.sentinel) { sources.swapAt(0, index) }
        self.watch = consume watch
        return found
    }

    private mutating func askNodes(until deadline: Deadline) throws(RedisError) -> RedisURL.Address {
        // Without a key any node will do, because it redirects the first command.
        guard let key else { return sources[0] }
        let limit = Deadline(after: deadline.remaining * sources.count / (sources.count + 1))
        let map = try limit.first(of: sources) { [url, interruption] source, share throws(RedisError) in
            try ClusterMap.ask(url, at: source, for: key, until: share, interruption: interruption)
        }
        // The nodes in the URL are always kept.
        let known = [map.source] + map.nodes.filter { $0 != map.source }
        sources = known + url.addresses.filter { !known.contains($0) }
        return map.owner
    }
}
