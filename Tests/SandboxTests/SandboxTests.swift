import FoundationEssentials
import Glibc
import Lifecycle
import TestSupport
import Testing

/// Hostile code in the place of each child, which dies or is refused; the same code outside shows that the attack is one.
@Suite(.timeLimit(.minutes(1))) struct SandboxTests {
    private let folder: TemporaryFolder
    /// A file that belongs to somebody else.
    private let target: String

    init() throws {
        folder = try TemporaryFolder()
        guard mkdir(folder.file("own"), 0o700) == 0 else { throw Errno.last }
        target = try folder.write("target", Array("secret".utf8))
    }

    private static let onFiles = [
        "reads_file", "writes_file", "empties_file", "lists_folder", "makes_file", "removes_file", "links_file",
        "opens_rights",
    ]
    private static let onNetwork = ["connects_tcp", "sends_datagram"]
    private static let onOthers = [
        "forks", "runs_program", "signals_worker", "reads_worker", "opens_worker", "limits_worker",
        "types_into_terminal", "arms_signal", "reaches_logger", "opens_mode",
    ]
    private static let onKernel = ["makes_namespace", "mounts", "rings", "hides_file", "raises_limit", "traces_worker"]

    /// What became of the attack.
    private enum Fate: Equatable {
        case succeeded, refused
        /// By the filter of system calls.
        case killed
        case other(Outcome)
    }

    private func fate(of attack: String, in role: String, on target: String? = nil) async throws -> Fate {
        let outcome = try await ChildProcess.run(
            Programs.path("HostileChild"), [role, attack, target ?? self.target, folder.file("own")])
        if outcome.termination == .signalled(SIGSYS) { return .killed }
        if outcome.output == "succeeded 0\n" || (outcome.succeeded && outcome.output.isEmpty) { return .succeeded }
        return outcome.output.hasPrefix("refused: ") && outcome.output.hasSuffix(" 0\n") ? .refused : .other(outcome)
    }

    @Test(arguments: onFiles + onNetwork + onOthers + onKernel + ["runs_data", "reaches_redis"])
    func `a transcoder that was taken over reaches nothing`(attack: String) async throws {
        let fate = try await fate(of: attack, in: "transcode")
        #expect(fate == .killed || fate == .refused)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "secret")
    }

    @Test(arguments: onFiles + onOthers + onKernel + ["reaches_redis"])
    func `a transfer that was taken over reaches no other file and no other process`(attack: String) async throws {
        let fate = try await fate(of: attack, in: "transfer")
        #expect(fate == .killed || fate == .refused)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "secret")
    }

    @Test(
        arguments: onFiles + onNetwork + [
            "forks", "runs_program", "signals_worker", "opens_worker", "runs_data", "hides_file",
        ])
    func `outside the walls the same attack succeeds`(attack: String) async throws {
        #expect(try await fate(of: attack, in: "free") == .succeeded)
    }

    @Test func `a transfer has its own folder and the network`() async throws {
        let own = try folder.write("own/file", Array("own".utf8))
        for attack in ["reads_file", "writes_file", "makes_file", "removes_file"] {
            #expect(try await fate(of: attack, in: "transfer", on: own) == .succeeded, "\(attack)")
        }
        #expect(try await fate(of: "connects_tcp", in: "transfer") == .succeeded)
    }
}
