import Glibc
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Slots

@Suite(.failureReport, .timeLimit(.minutes(5))) struct StandardErrorLogTests {
    /// The lines that are written down of what a process writes before it ends.
    private func lines(of bytes: [UInt8]) throws -> [String] {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno.last }
        let writer = ends[1]
        startThread {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                rest = rest.dropFirst(count)
            }
            close(writer)
        }
        let lines = Mutex<[String]>([])
        var log = StandardErrorLog(Descriptor(owning: ends[0])) { line in lines.withLock { $0.append(line) } }
        while log.isOpen { log.read() }
        log.finish()
        return lines.withLock { $0 }
    }

    @Test func `a line stays one line, whatever it contains`() throws {
        let text = "Fatal error: x\n\u{1b}[2J\u{202e}\r\u{85}bad\n\nno end"
        let found = try lines(of: Array(text.utf8) + [0xff])
        #expect(found == ["Fatal error: x", #"\u001b[2J\u202e\u000d\u0085bad"#, "", "no end\u{fffd}"])
    }

    @Test func `a long line is cut, and of a flood the last lines are kept`() throws {
        let long = try lines(of: Array(repeating: 0x78, count: 100_000) + Array("\nshort\n".utf8))
        #expect(long.count == 2 && long[0].utf8.count < 2100 && long[1] == "short")
        let flood = try lines(
            of: Array((0..<9000).map { "line \($0) of \(String(repeating: "x", count: 80))\n" }.joined().utf8))
        #expect(flood.count < 1000 && flood[0].hasPrefix("line 0 ") && flood.last?.hasPrefix("line 8999 ") == true)
        #expect(flood.contains { $0.contains("lines are left out") })
    }
}
