import CLinux
import FoundationEssentials
import Glibc
package import Lifecycle

/// One end of a pair of `SOCK_SEQPACKET` sockets, with one JSON object per packet, and optionally a descriptor.
package struct PacketSocket: ~Copyable, Sendable {
    /// The maximum size of a packet in bytes.
    package static let largestPacket = 128 << 10

    private let descriptor: Descriptor

    /// Takes ownership of one end; the peer reads the end of file when it is closed.
    package init(owning descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The socket's borrowed number, for `poll`.
    package var number: CInt { descriptor.number }

    /// Two connected ends, both with close-on-exec set. The corresponding C function is `socketpair`.
    package static func pair() throws(Errno) -> PacketSocketPair {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .last
        }
        return PacketSocketPair(
            first: PacketSocket(owning: Descriptor(owning: ends[0])),
            second: PacketSocket(owning: Descriptor(owning: ends[1])))
    }

    /// The bytes by which a message exceeds a packet; zero or less if it fits.
    package static func excess(of message: some Encodable) throws -> Int {
        try JSONEncoder().encode(message).count - largestPacket
    }

    /// Sends the message, with a copy of the descriptor if there is one. While the peer's buffer is full, it blocks, or
    /// fails with `EAGAIN` if `waits` is false.
    package borrowing func send(
        _ message: some Encodable, descriptor passed: CInt = -1, waits: Bool = true
    ) throws(PacketError) {
        let packet: Data
        do { packet = try JSONEncoder().encode(message) } catch { throw .malformed("cannot encode: \(error)") }
        guard packet.count <= Self.largestPacket else {
            throw .malformed("a packet of \(packet.count) bytes is too long")
        }
        let sent = packet.withUnsafeBytes {
            clinux_send(descriptor.number, $0.baseAddress, $0.count, passed, waits ? 1 : 0)
        }
        guard sent == packet.count else { throw .system(.last) }
    }

    /// Waits for the next message; `nil` if the peer has closed the connection.
    package borrowing func receive<Message: Decodable>(_ type: Message.Type) throws(PacketError) -> Received<Message>? {
        guard var packet = try receivePacket() else { return nil }
        let message: Message
        do { message = try JSONDecoder().decode(type, from: packet.bytes) } catch {
            throw .malformed("cannot decode \(String(decoding: packet.bytes.prefix(200), as: UTF8.self)): \(error)")
        }
        return Received(message: message, size: packet.bytes.count, descriptor: packet.descriptor.take())
    }

    /// Waits until a message or the end can be received; returns false after the timeout.
    package borrowing func waitUntilReadable(milliseconds: CInt) throws(PacketError) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&entry, 1, milliseconds)
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { throw .system(.last) }
        }
    }

    /// Whether there is room for a message, or the peer has closed the connection.
    package var isWritable: Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// Closes the connection in both directions; receivers on both sides get the end. The corresponding C function is
    /// `shutdown`.
    package borrowing func shutDown() {
        shutdown(descriptor.number, CInt(SHUT_RDWR))
    }

    private borrowing func receivePacket() throws(PacketError) -> Packet? {
        var passed: CInt = -1
        var length = 0
        let bytes = withUnsafeTemporaryAllocation(byteCount: Self.largestPacket, alignment: 8) { buffer in
            length = clinux_receive(descriptor.number, buffer.baseAddress, buffer.count, &passed)
            return length > 0 ? Data(buffer[..<length]) : Data()
        }
        let owned = passed >= 0 ? Descriptor(owning: passed) : nil
        if length < 0 {
            // A peer that ended with our message unread resets the connection, which is an end too.
            guard errno != ECONNRESET else { return nil }
            throw .system(.last)
        }
        return length == 0 ? nil : Packet(bytes: bytes, descriptor: owned)
    }
}

/// Both ends of a new pair; each owner takes one.
package struct PacketSocketPair: ~Copyable, Sendable {
    /// One end; `nil` after its owner has taken it.
    package var first: PacketSocket?
    /// The other end; `nil` after its owner has taken it.
    package var second: PacketSocket?
}
