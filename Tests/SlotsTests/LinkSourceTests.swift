import Bytes
import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import TestSupport
import Testing

@testable import Transcode

@Suite(.failureReport, .timeLimit(.minutes(5))) struct LinkSourceTests {
    @Test func `a stream does not read bytes that it has given back`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("spool", [UInt8](repeating: 7, count: 4 << 20))
        var control = try PacketSocket.pair()
        var link = try PacketSocket.pair()
        let reporter = Reporter(control: control.first.take()!)
        let own = link.first.take()!
        // The answers wait in the socket before the questions come.
        let spool = Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
        try own.send(LinkAnswer.openedStream(available: 1 << 20), descriptor: spool.number)
        try own.send(LinkAnswer.have(offset: 2 << 20, length: 64 << 10))
        let source = try LinkSource(link: Link(socket: link.second.take()!, reporter: reporter), reporter: reporter)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try source.read(into: buffer, at: 0) == 4096)
        #expect(try source.read(into: buffer, at: 2 << 20) == 4096)
        let error = #expect(throws: Failure.self) { _ = try source.read(into: buffer, at: 4096) }
        #expect(error?.message == "byte 4096 of a stream was read at 2097152, after it was discarded")
        // What was announced and lies ahead stays readable.
        #expect(try source.read(into: buffer, at: (2 << 20) + 8192) == 4096)
    }

    @Test(arguments: [false, true])
    func `a closed link is a crash of respool-transfer, not a failure of the job`(isUnread: Bool) throws {
        var control = try PacketSocket.pair()
        var ends = try PacketSocket.pair()
        let link = Link(socket: ends.first.take()!, reporter: Reporter(control: control.first.take()!))
        if isUnread { try link.send(.discard(output: 0)) }
        // A process that another test starts has a copy of this end until its exec, and closing it alone would not reach the link.
        ends.second?.shutDown()
        ends.second = nil
        for request in [LinkRequest.discard(output: 0), .seal(output: 0)] {
            let error = #expect(throws: Failure.self) { try link.send(request) }
            #expect(error?.code == .crashed)
        }
        let error = #expect(throws: Failure.self) { _ = try link.ask(.seal(output: 0)).size }
        #expect(error?.code == .crashed)
    }
}
