import FoundationEssentials
package import Lifecycle

/// A message, and the descriptor that came with it.
package struct Received<Message: Sendable>: ~Copyable, Sendable {
    package let message: Message
    /// Bytes of the packet.
    package let size: Int
    /// Owned here; a receiver that keeps it takes it out.
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
