import CCurl
import Glibc

/// An IPv4 or IPv6 address: 4 or 16 bytes in network order.
struct IPAddress: Hashable, Sendable {
    let bytes: [UInt8]

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Parses an address in its usual notation. The corresponding C function is `inet_pton`.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// The address of a socket address; `nil` for other families.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            var four = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            bytes = withUnsafeBytes(of: &four) { Array($0) }
        case AF_INET6:
            var six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            bytes = withUnsafeBytes(of: &six) { Array($0) }
        default: return nil
        }
    }

    /// The IPv4 address embedded in an IPv6 address: mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056).
    var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        if Network.mapped.contains(self) || Network.translated.contains(self) {
            return IPAddress(bytes: Array(bytes[12...]))
        }
        if Network.sixToFour.contains(self) { return IPAddress(bytes: Array(bytes[2..<6])) }
        return nil
    }
}

/// An address with a prefix length, such as `10.0.0.0/8`.
struct Network: Hashable, Sendable {
    let address: IPAddress
    let prefix: Int

    static let mapped = Network("::ffff:0:0/96")!
    static let translated = Network("64:ff9b::/96")!
    static let sixToFour = Network("2002::/16")!

    /// Parses a network. An address without a prefix length is a network of one address.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        let longest = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.address, prefix) = (address, longest)
            return
        }
        guard let prefix = Int(parts[1]), (0...longest).contains(prefix) else { return nil }
        (self.address, self.prefix) = (address, prefix)
    }

    func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = prefix / 8
        guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
        let rest = prefix % 8
        guard rest > 0 else { return true }
        return (other.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0
    }
}
