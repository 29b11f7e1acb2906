import Glibc
import Lifecycle
import SlotIPC

/// Bytes as a packet of each kind, on a socket as children have it.
enum MessageTarget {
    static func receive(_ bytes: UnsafeRawBufferPointer) {
        take(TranscodeOrder.self, bytes)
        take(TranscodeReport.self, bytes)
        take(TransferOrder.self, bytes)
        take(TransferReport.self, bytes)
        take(LinkRequest.self, bytes)
        take(LinkAnswer.self, bytes)
        take(PostOrder.self, bytes)
        take(PostReport.self, bytes)
    }

    /// What can be read can be sent again.
    private static func take<Message: Codable & Sendable>(_ kind: Message.Type, _ bytes: UnsafeRawBufferPointer) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else { fatalError("\(Errno.last)") }
        let peer = Descriptor(owning: ends[0])
        let socket = PacketSocket(owning: Descriptor(owning: ends[1]))
        guard send(peer.number, bytes.baseAddress, bytes.count, 0) == bytes.count, bytes.count > 0,
            let received = try? socket.receive(kind)
        else { return }
        try? socket.send(received.message)
    }
}
