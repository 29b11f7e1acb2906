import Attacks
import FoundationEssentials
import Glibc
import Lifecycle
import SlotIPC
import TestSupport
import Testing

/// Hostile code in the place of each child, which dies or is refused; the same code outside shows that the attack is one.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SandboxTests {
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

    private func fate(
        of attack: String, in role: String, on target: String? = nil,
        _ change: (inout TransferPolicy) -> Void = { _ in }
    ) async throws -> Fate {
        var policy = TransferPolicy()
        policy.outputRoot = folder.file("own")
        policy.spoolFolder = folder.file("own")
        change(&policy)
        let json = String(decoding: try JSONEncoder().encode(policy), as: UTF8.self)
        let outcome = try await ChildProcess.run(
            Programs.path("HostileChild"), [role, attack, target ?? self.target, json])
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
    func `the same attack succeeds outside the sandbox`(attack: String) async throws {
        #expect(try await fate(of: attack, in: "free") == .succeeded)
    }

    @Test(arguments: ["/etc", "/etc/passwd", "/etc/group", "/etc/debian_version", "/etc/ssl"])
    func `a transfer reads only what it needs of the system's configuration`(path: String) async throws {
        #expect(try await fate(of: "reads_file", in: "free", on: path) == .succeeded)
        for role in ["transfer", "callbacks"] {
            #expect(try await fate(of: "reads_file", in: role, on: path) == .refused)
        }
    }

    @Test(
        arguments: [
            "resolv.conf", "hosts", "nsswitch.conf", "services", "ssl/certs/ca-certificates.crt", "ssl/openssl.cnf",
        ]
    )
    func `a transfer finds the files for looking up names and certificates`(name: String) async throws {
        let path = "/etc/\(name)"
        guard access(path, R_OK) == 0 else { return }
        #expect(try await fate(of: "reads_file", in: "transfer", on: path) == .succeeded)
        #expect(try await fate(of: "writes_file", in: "transfer", on: path) == .refused)
    }

    @Test func `a transfer reads the files that its settings name, and nothing beside them`() async throws {
        let keys = folder.file("keys")
        guard mkdir(keys, 0o700) == 0, mkdir("\(keys)/volume", 0o700) == 0, mkdir("\(keys)/volume/..1", 0o700) == 0
        else { throw Errno.last }
        let names = ["authorities.pem", "credentials", "aws", "config", "token", "known_hosts", "key"]
        for name in names + ["callback-secret", "volume/..1/token", "volume/other"] {
            try folder.write("keys/\(name)", text: "secret")
        }
        symlink("..1", "\(keys)/volume/..data")
        symlink("..data/token", "\(keys)/volume/token")
        let policy = { (policy: inout TransferPolicy) in
            policy.certificateFile = "\(keys)/authorities.pem"
            policy.credentials.file = "\(keys)/credentials"
            policy.s3.credentialsFile = "\(keys)/aws"
            policy.s3.configurationFile = "\(keys)/config"
            policy.s3.container = S3RoleSource(url: "http://127.0.0.1", tokenFile: "\(keys)/token")
            policy.knownHostsFile = "\(keys)/known_hosts"
            policy.sshKeyFile = "\(keys)/key"
        }
        for name in names {
            #expect(
                try await fate(of: "reads_file", in: "transfer", on: "\(keys)/\(name)", policy) == .succeeded, "\(name)"
            )
            #expect(try await fate(of: "writes_file", in: "transfer", on: "\(keys)/\(name)", policy) == .refused)
        }
        for path in [keys, "\(keys)/callback-secret"] {
            #expect(try await fate(of: "reads_file", in: "transfer", on: path, policy) == .refused)
        }
        // A volume of Kubernetes, whose files are replaced while they are in use.
        let volume = { (policy: inout TransferPolicy) in
            policy.s3.container = S3RoleSource(url: "http://127.0.0.1", tokenFile: "\(keys)/volume/token")
        }
        for name in ["volume/token", "volume/other"] {
            #expect(
                try await fate(of: "reads_file", in: "transfer", on: "\(keys)/\(name)", volume) == .succeeded, "\(name)"
            )
        }
        #expect(try await fate(of: "reads_file", in: "transfer", on: "\(keys)/callback-secret", volume) == .refused)
    }

    @Test(.enabled(if: knowsPorts, "needs version 4 of Landlock"), arguments: ["transfer", "callbacks"])
    func `the port of the worker's Redis is closed to a transfer, and no other`(role: String) async throws {
        let (closed, open) = ("\(try LoopbackPort.free())", "\(try LoopbackPort.free())")
        let policy = { (policy: inout TransferPolicy) in policy.closedPorts = [UInt16(closed)!] }
        #expect(try await fate(of: "connects_port", in: role, on: closed) == .succeeded)
        #expect(try await fate(of: "connects_port", in: role, on: closed, policy) == .refused)
        #expect(try await fate(of: "connects_port", in: role, on: open, policy) == .succeeded)
    }

    private static var knowsPorts: Bool { landlock_version() >= 4 }

    @Test(
        arguments: ["sends_at_once", "sends_message_at_once", "sends_messages_at_once", "connects_multipath"])
    func `a transfer cannot connect in a way that its rules do not cover`(attack: String) async throws {
        let port = "\(try LoopbackPort.free())"
        #expect(try await fate(of: attack, in: "free", on: port) == .succeeded)
        let fate = try await fate(of: attack, in: "transfer", on: port)
        #expect(fate == .killed || fate == .refused)
    }

    @Test func `a transfer has its own folder and the network`() async throws {
        let own = try folder.write("own/file", Array("own".utf8))
        for attack in ["reads_file", "writes_file", "makes_file", "removes_file"] {
            #expect(try await fate(of: attack, in: "transfer", on: own) == .succeeded, "\(attack)")
        }
        #expect(try await fate(of: "connects_tcp", in: "transfer") == .succeeded)
    }
}
