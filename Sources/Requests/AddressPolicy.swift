/// The addresses that respool may connect to: public ones, and those that the operator allows in addition.
package struct AddressPolicy: Sendable {
    private let allowed: [HostPattern]
    private let closedPorts: [UInt16]

    /// Also allows these host names, addresses and networks, each with an optional port. The closed ports are refused at every
    /// address.
    init(allowedHosts: [String], closedPorts: [UInt16] = []) {
        allowed = allowedHosts.map { HostPattern($0) }
        self.closedPorts = closedPorts
    }

    /// Whether a socket may be opened to the address that the host name was resolved to.
    func permits(_ address: IPAddress, host: String, port: Int) -> Bool {
        guard !closedPorts.contains(where: { $0 == port }) else { return false }
        return Self.isPublic(address) || allowed.contains { $0.matches(host, address, port: port) }
    }

    /// Whether the address is reachable from the public Internet.
    static func isPublic(_ address: IPAddress) -> Bool {
        if address.bytes.count == 4 { return !closedIPv4.contains { $0.contains(address) } }
        if let embedded = address.embedded { return isPublic(embedded) }
        // For IPv6, only the assigned global unicast range is public. The rest is loopback, local, multicast or reserved.
        return globalUnicast.contains(address) && !closedIPv6.contains { $0.contains(address) }
    }

    /// The registry of special-purpose addresses (RFC 6890 and its successors), multicast, and the address at which Azure hosts
    /// reply to their guests.
    private static let closedIPv4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    ].map { Network($0)! }

    private static let globalUnicast = Network("2000::/3")!

    /// Protocol assignments, which include Teredo and ORCHID, and the documentation ranges.
    private static let closedIPv6 = ["2001::/23", "2001:db8::/32", "3fff::/20"].map { Network($0)! }
}
