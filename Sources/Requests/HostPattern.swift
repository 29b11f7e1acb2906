/// A host pattern set by an operator: a name, an address or a network, with an optional port.
struct HostPattern: Sendable {
    private let network: Network?
    private let name: String
    private let port: Int?

    init(_ text: String) {
        var (host, port) = (text[...], Int?.none)
        let whole = Network(text)
        if whole == nil, let colon = text.lastIndex(of: ":"), let number = Int(text[text.index(after: colon)...]) {
            (host, port) = (text[..<colon], number)
        }
        name = Self.normalized(String(host))
        network = whole ?? Network(name)
        self.port = port
    }

    /// Whether the pattern matches the host, which has that address. With `andBelow`, a name also matches its subdomains.
    func matches(_ host: String, _ address: IPAddress?, port: Int, andBelow: Bool = false) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        guard let network else {
            let host = Self.normalized(host)
            return host == name || andBelow && host.hasSuffix("." + name)
        }
        guard let address else { return false }
        return network.contains(address) || address.embedded.map(network.contains) == true
    }

    private static func normalized(_ host: String) -> String {
        var host = host.lowercased()[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasSuffix(".") { host = host.dropLast() }
        return String(host)
    }
}
