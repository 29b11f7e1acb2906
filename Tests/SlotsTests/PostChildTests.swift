import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Slots
import TestSupport
import Testing

/// Children that post, and that stop in the middle of it: the kernel's stopped processes, which read nothing and end by
/// no request.
@Suite(.failureReport, .serialized, .timeLimit(.minutes(5))) struct PostChildTests {
    private func child(_ policy: TransferPolicy = TransferPolicy(), timeout: Duration = .seconds(60)) -> PostChild {
        PostChild(policy: policy, purpose: "callbacks", log: Log(form: .text, least: .error), timeout: timeout)
    }

    /// Asks for what no child does, so that its refusal shows that it has read it.
    private func post(_ child: PostChild, bytes: Int = 100) async -> PostAnswer {
        do throws(Failure) {
            return try await child.post(
                Data(repeating: 0x20, count: bytes), to: "http://127.0.0.1:9/", headers: [])
        } catch { return PostAnswer(failure: error) }
    }

    /// Posts more at once than the buffer of a child takes.
    private func flood(_ child: PostChild) async -> [Failure?] {
        await withTaskGroup(of: Failure?.self) { group in
            for _ in 0..<32 { group.addTask { await post(child, bytes: 65_536).failure } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func sender() async throws -> pid_t {
        let outcome = try await ChildProcess.run(
            "pgrep", ["-P", "\(getpid())", "-f", "respool-transfer \(getpid()) posts$"])
        return try #require(pid_t(outcome.output.split(separator: "\n").last ?? ""))
    }

    /// The most bytes that the peer of one of this process's sockets has not read.
    private var maxUnread: CInt {
        (CInt(0)..<1024).reduce(0) { most, descriptor in
            var count: CInt = 0
            return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? max(most, count) : most
        }
    }

    @Test func `a sender that reads late gets every message`() async throws {
        let child = child()
        #expect(await post(child).failure?.code == .policyDenied)
        let sender = try await sender()
        kill(sender, SIGSTOP)
        async let flood = flood(child)
        // The child itself waits for nothing: whoever asks it is answered.
        async let other = post(child)
        try await eventually("the sender's buffer is full") { maxUnread > 100_000 }
        kill(sender, SIGCONT)
        #expect(await other.failure?.code == .policyDenied)
        #expect(await flood.allSatisfy { $0?.code == .policyDenied })
        await child.close()
    }

    @Test func `a sender that never reads is killed, and nobody waits for it`() async throws {
        let child = child(timeout: .seconds(5))
        _ = await post(child)
        kill(try await sender(), SIGSTOP)
        #expect(await flood(child).allSatisfy { $0?.code == .crashed })
        await child.close()
    }

    @Test func `a replaced sender that does not end is killed`() async throws {
        let folder = try TemporaryFolder()
        var policy = TransferPolicy()
        policy.certificateFile = try folder.write("authorities.pem", text: "")
        let child = child(policy, timeout: .seconds(5))
        _ = await post(child)
        let sender = try await sender()
        kill(sender, SIGSTOP)
        rename(try folder.write("new.pem", text: ""), folder.file("authorities.pem"))
        _ = await post(child)
        try await eventually("it is gone") { kill(sender, 0) != 0 }
        await child.close()
    }
}
