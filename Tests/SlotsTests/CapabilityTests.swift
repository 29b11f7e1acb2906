import FoundationEssentials
import Glibc
import Lifecycle
import Slots
import TestSupport
import Testing

/// What children of a worker that runs as root may still do as root.
@Suite(
    .failureReport, .enabled(if: geteuid() == 0, "nobody but root has capabilities to give up"), .timeLimit(.minutes(5))
) struct CapabilityTests {
    private let studio: Studio

    init() async throws { studio = try await Studio() }

    /// The sets of capabilities of each thread of the process.
    private func capabilities(of pid: Int32) throws -> Set<String> {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        let lines = try threads.flatMap { thread in
            try String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8).split(separator: "\n")
        }
        return Set(lines.filter { $0.hasPrefix("Cap") }.map { $0.filter { $0 != "\t" } })
    }

    private func sets(_ value: String) -> Set<String> {
        Set(
            ["CapPrm", "CapEff", "CapBnd"].map { "\($0):\(value)" }
                + ["CapInh", "CapAmb"].map { "\($0):0000000000000000" })
    }

    @Test func `transfer keeps one capability, to reach the files of others, and transcode none`() async throws {
        let slot = studio.slot()
        try await slot.start()
        let (transfer, transcode) = (
            try #require(slot.processes["respool-transfer"]), try #require(slot.processes["respool-transcode"])
        )
        #expect(try capabilities(of: transcode) == sets("0000000000000000"))
        #expect(try capabilities(of: transfer) == sets("0000000000000002"))
        await slot.shutdown()
    }

    @Test func `a file that only another user may read is converted into that user's folder`()
        async throws
    {
        for (name, mode) in [("in/short.wav", 0o600), ("in", 0o700), ("out", 0o700)] as [(String, mode_t)] {
            let path = "\(studio.folder.path)/\(name)"
            guard chmod(path, mode) == 0, chown(path, 65_534, 65_534) == 0 else { throw Errno.last }
        }
        let slot = studio.slot()
        try await studio.convert(slot, id: "one")
        #expect(try await studio.frames(of: "one.wav") == Studio.frames)
        await slot.shutdown()
    }
}
