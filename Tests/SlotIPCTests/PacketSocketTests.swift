import Glibc
import Lifecycle
import MediaTypes
import SlotIPC
import Testing

@Suite struct PacketSocketTests {
    @Test func `a socket carries a message and a descriptor`() throws {
        var pair = try PacketSocket.pair()
        let first = pair.first.take()!
        let second = pair.second.take()!
        let file = Descriptor(owning: open("/proc/self/status", O_RDONLY | O_CLOEXEC))
        try first.send(LinkAnswer.opened(length: 7, available: 3), descriptor: file.number)
        guard var received = try second.receive(LinkAnswer.self) else {
            Issue.record("the peer seemed to be gone")
            return
        }
        guard case .opened(7, 3) = received.message else {
            Issue.record("another message came out: \(received.message)")
            return
        }
        guard let passed = received.descriptor.take() else {
            Issue.record("no descriptor came with the message")
            return
        }
        var byte: UInt8 = 0
        #expect(pread(passed.number, &byte, 1, 0) == 1)
        #expect(fcntl(passed.number, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test func `messages are kept apart`() throws {
        var pair = try PacketSocket.pair()
        let first = pair.first.take()!
        let second = pair.second.take()!
        for offset in 0..<20 { try first.send(LinkRequest.need(offset: Int64(offset))) }
        for offset in 0..<20 {
            guard let received = try second.receive(LinkRequest.self),
                case .need(offset: Int64(offset)) = received.message
            else {
                Issue.record("message \(offset) is another")
                return
            }
        }
    }

    @Test func `a call returns nothing when the peer has gone`() throws {
        var pair = try PacketSocket.pair()
        let first = pair.first.take()!
        let second = pair.second.take()!
        first.shutDown()
        let isGone = try second.receive(LinkRequest.self) == nil
        #expect(isGone)
    }

    @Test func `a packet that is no message is refused`() throws {
        var pair = try PacketSocket.pair()
        let first = pair.first.take()!
        let second = pair.second.take()!
        try first.send(["other": 1])
        #expect(throws: PacketError.self) { _ = try second.receive(LinkRequest.self) }
        #expect(throws: PacketError.self) { try first.send(String(repeating: "x", count: 200_000)) }
    }

    @Test func `a socket has timeouts`() throws {
        var pair = try PacketSocket.pair()
        let first = pair.first.take()!
        let second = pair.second.take()!
        let before = try second.waitUntilReadable(milliseconds: 1)
        try first.send(LinkRequest.stage(output: 0, part: nil))
        let after = try second.waitUntilReadable(milliseconds: 1000)
        #expect(!before && after)
    }
}
