import Lifecycle

/// Where a client's server is now: at the address itself, or where the sentinels or the nodes of a cluster say.
///
/// What they said holds until the server's errors give cause to ask again, or a sentinel says that the master is another.
struct RedisTopology: ~Copyable {
    private let url: RedisURL
    private let key: String?
    private let interruption: Interruption
    /// The sentinels or nodes to ask, in that order.
    private var sources: [RedisURL.Address]
    private var isCluster: Bool
    private var server: RedisURL.Address?
    private var watch: SentinelWatch?
    private var nextQuestion = Deadline(after: .zero)
    /// Between two questions to the sentinels; longer while none answers, for each holds a command up.
    private(set) var interval: Duration = .seconds(1)

    /// The topology behind the URL; in a cluster, the client wants the node that has the key.
    init(url: RedisURL, key: String?, interruption: Interruption) {
        self.url = url
        self.key = key
        self.interruption = interruption
        sources = url.addresses
        isCluster = url.topology == .cluster
    }

    /// The server to connect to; asks for it if that is not known.
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

    /// Forgets where the server is; the one that told it last is asked last.
    mutating func invalidate() {
        server = nil
        watch = nil
        sources.append(sources.removeFirst())
    }

    /// Takes note that the server is another node of a cluster.
    mutating func move(host: String, port: UInt16) {
        if !isCluster { sources = [server ?? url.addresses[0]] }
        isCluster = true
        let target = address(host: host, port: port)
        server = target
        if !sources.contains(target) { sources.append(target) }
    }

    /// The address of another node; without a host it is at the server's.
    func address(host: String, port: UInt16) -> RedisURL.Address {
        url.address(host: host.isEmpty || host == "?" ? server?.host ?? url.addresses[0].host ?? "" : host, port: port)
    }

    /// Whether the sentinels name another master by now: asks them if one of them said something, or went away.
    ///
    /// While none answers, the master is the one that they named last.
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

    /// Throws unless the server is one that takes writes.
    func check(_ connection: inout RedisConnection, until deadline: Deadline) throws(RedisError) {
        guard case .sentinels = url.topology else { return }
        // An account that may not ask is told by the first write.
        guard case .array(let parts) = try connection.send([["ROLE"]], until: deadline)[0],
            let role = parts.first?.string,
            role != "master"
        else { return }
        throw .server(code: "READONLY", message: "it is a \(role), though a sentinel named it as the master")
    }

    private mutating func askSentinels(_ master: String, until deadline: Deadline) throws(RedisError)
        -> RedisURL.Address
    {
        watch = nil
        // One share is left for the server itself.
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
        // Without a key any node will do: the first command is told where to go.
        guard let key else { return sources[0] }
        let limit = Deadline(after: deadline.remaining * sources.count / (sources.count + 1))
        let map = try limit.first(of: sources) { [url, interruption] source, share throws(RedisError) in
            try ClusterMap.ask(url, at: source, for: key, until: share, interruption: interruption)
        }
        // Those that the URL names are never forgotten.
        let known = [map.source] + map.nodes.filter { $0 != map.source }
        sources = known + url.addresses.filter { !known.contains($0) }
        return map.owner
    }
}
