package import Configuration
import Glibc
import JobSchema

/// A private host, address or network that an operator allows for sources, or for outputs and callbacks.
package enum AllowedHost {
    /// Throws unless the text is a host or an address, optionally with a port, or a network such as 10.0.0.0/8.
    package static func check(_ text: String, from origin: String) throws(SettingError) {
        guard isNetwork(text) || isHost(text) else {
            throw SettingError(
                origin, is: text, expected: "a host or an address, perhaps with a port, or a network as 10.0.0.0/8")
        }
    }

    private static func isNetwork(_ text: String) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let prefix = Int(parts[1]) else { return false }
        return isAddress(parts[0], AF_INET) && (0...32).contains(prefix)
            || isAddress(parts[0], AF_INET6) && (0...128).contains(prefix)
    }

    private static func isHost(_ text: String) -> Bool {
        if isAddress(text, AF_INET6) { return true }
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            guard let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port) else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { return isAddress(String(host.dropFirst().dropLast()), AF_INET6) }
        return KeyName.isValid(String(host), atMost: 253)
    }

    private static func isAddress(_ text: String, _ family: Int32) -> Bool {
        var address = in6_addr()
        return inet_pton(family, text, &address) == 1
    }
}
