import FoundationEssentials
package import Lifecycle

/// A received message, with its descriptor if it has one.
package struct Received<Message: Sendable>: ~Copyable, Sendable {
    /// The decoded packet.
    package let message: Message
    /// The size of the packet in bytes.
    package let size: Int
    /// Owned by this value until the receiver takes it.
    package var descriptor: Descriptor?
}

/// Why a packet could not be sent or received.
package enum PacketError: Error, Hashable, Sendable {
    case system(Errno)
    case malformed(String)
}

extension PacketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let error): "the socket between two processes failed: \(error)"
        case .malformed(let reason): "a message between two processes is malformed: \(reason)"
        }
    }
}

struct Packet: ~Copyable {
    let bytes: Data
    var descriptor: Descriptor?
}
