import Glibc

/// The address for which connections are counted: an IPv4 address, or a /64 network of IPv6, because one host may have all its
/// addresses.
package struct ClientAddress: Hashable, Sendable {
    private let bytes: [UInt8]
    /// All bytes, which tell two hosts of a network apart.
    package let exact: [UInt8]
    /// Whether the address is a loopback address.
    package let isLoopback: Bool

    /// The address of a socket's peer. All unknown addresses count as one.
    init(_ address: UnsafePointer<sockaddr>?) {
        let bytes: [UInt8] =
            switch address?.pointee.sa_family {
            case sa_family_t(AF_INET):
                address!.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin_addr) { Array($0) }
                }
            case sa_family_t(AF_INET6):
                address!.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { Array($0) }
                }
            default: []
            }
        self.init(bytes)
    }

    /// The 4 or 16 bytes of an address.
    package init(_ bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
        let own = isMapped ? Array(bytes.suffix(4)) : bytes
        // Clients of a Unix socket have no address.
        isLoopback =
            own.isEmpty || (own.count == 4 ? own[0] == 127 : own == [UInt8](repeating: 0, count: 15) + [1])
        exact = own
        self.bytes = own.count == 16 ? Array(own.prefix(8)) : own
    }

    package static func == (left: ClientAddress, right: ClientAddress) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// Parses an address in digits; `nil` if the text is not one.
    package init?(_ text: some StringProtocol) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &bytes) == 1 {
            self.init(Array(bytes.prefix(4)))
        } else if inet_pton(AF_INET6, String(text), &bytes) == 1 {
            self.init(bytes)
        } else {
            return nil
        }
    }

    /// The address in digits; of IPv6 only the network.
    package var text: String {
        guard bytes.count == 8 else {
            return bytes.isEmpty ? "unix" : bytes.count == 4 ? bytes.map(String.init).joined(separator: ".") : "?"
        }
        let words = stride(from: 0, to: 8, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        return isLoopback ? "::1" : words.joined(separator: ":") + "::/64"
    }
}
