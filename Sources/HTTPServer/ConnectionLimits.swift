/// How many connections a listener serves.
package struct ConnectionLimits: Sendable {
    /// Maximum number of connections of one address.
    package var perAddress = 16
    /// Maximum number of connections from other machines.
    package var remote = 64
    /// Maximum number of connections from this machine, which are counted separately.
    package var local = 32
    /// Maximum number of streams of one address.
    package var streamsPerAddress = 16
    /// Maximum number of streams, which are counted apart from other connections.
    package var streams = 1024
    /// Maximum number of files that one address sends or receives at once.
    package var transfersPerAddress = 8
    /// Maximum number of files that are sent and received, which are counted apart from other connections.
    package var transfers = 64
    /// How often the rate of these is checked.
    package var transferInterval: Duration = .seconds(30)
    /// Minimum number of bytes in each interval; a slower client loses its connection.
    package var minTransferBytes: Int64 = 30 << 10
    /// Maximum number of bytes that are held for the bodies of all requests.
    package var bodyBytes = 32 << 20

    package init() {}

    /// The number of connections and of streams of one address, half of whose connections may send or receive files; those in all
    /// grow with it, for a server behind a proxy.
    package init(perAddress: Int, streamsPerAddress: Int) {
        self.perAddress = perAddress
        self.streamsPerAddress = streamsPerAddress
        remote = max(remote, perAddress)
        local = max(local, perAddress)
        streams = max(streams, streamsPerAddress)
        transfersPerAddress = max(1, perAddress / 2)
        transfers = max(transfers, transfersPerAddress)
    }

    /// Maximum number of connections for libmicrohttpd, including those being closed.
    var total: UInt32 { UInt32(2 * (remote + local) + streams + transfers) }
}
