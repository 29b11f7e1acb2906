import Foundation
import Glibc
import Jobs
import TestSupport
import Testing

/// Files in which names are looked up, and that others take the place of while a worker runs, in an `/etc` of its own.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct LookupFileTests {
    private static var mayMount: Bool {
        get async throws { try await ChildProcess.run("unshare", ["-rm", "true"]).succeeded }
    }

    private static let script = #"""
        set -e
        etc=$1; shift
        cp -aL /etc/nsswitch.conf /etc/passwd /etc/ld.so.cache "$etc"
        mount --bind "$etc" /etc
        exec "$@"
        """#

    @Test(.enabled("needs user namespaces") { try await mayMount })
    func `a renamed resolv.conf and a renamed hosts file apply from the next job on`() async throws {
        let (shop, server, folder) = (try await Workshop(), try await SlowServer(), try TemporaryFolder())
        let etc = folder.file("etc")
        guard mkdir(etc, 0o755) == 0 else { throw POSIXError(.EIO) }
        try folder.write("etc/resolv.conf", text: "nameserver 127.0.0.9\noptions timeout:1 attempts:1\n")
        try folder.write("etc/hosts", text: "127.0.0.1 localhost\n")
        let worker = try await ChildProcess(
            "unshare", ["-rm", "sh", "-c", Self.script, "sh", etc, Programs.path("respoold"), "worker"],
            environment: shop.environment.merging(["RESPOOL_SLOTS": "1"]) { $1 })
        try await worker.logs("worker started")
        func children() async throws -> [pid_t] { try await worker.children("respool-transfer") }

        let file = try shop.source("a.wav", Sounds.ramp(samples: 441))
        let first = try await children()
        try await shop.job(try await shop.push(["source": file, "format": "flac"]), reaches: .completed)
        #expect(try await children() == first)
        rename(try folder.write("etc/new", text: "nameserver 127.0.0.10\n"), "\(etc)/resolv.conf")
        try await shop.job(try await shop.push(["source": file, "format": "flac"]), reaches: .completed)
        let second = try await children()
        #expect(second.count == 1 && second != first)

        rename(try folder.write("etc/new", text: "127.0.0.1 localhost renamed.test\n"), "\(etc)/hosts")
        let url = server.url.replacing("127.0.0.1", with: "renamed.test")
        // Only the first who asks for it gets it slowly.
        _ = try await ChildProcess.run("python3", [Script.path("first_byte.py"), "\(server.url)/slow-once?a"])
        try await shop.job(
            try await shop.push(["source": "\(url)/slow-once?a", "format": "flac"]), reaches: .completed)
        #expect(try await children() != second)
    }
}
