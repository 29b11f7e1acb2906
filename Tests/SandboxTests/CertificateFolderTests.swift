import Attacks
import FoundationEssentials
import Glibc
import Lifecycle
import SlotIPC
import TestSupport
import Testing

/// Certificates where other distributions keep them, in an `/etc` and a `/var/lib` of the test's own.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CertificateFolderTests {
    private let folder: TemporaryFolder

    private static var mayMount: Bool {
        get async throws { try await ChildProcess.run("unshare", ["-rm", "true"]).succeeded }
    }

    private static let script = #"""
        set -e
        root=$1; shift
        cp -aL /etc/ld.so.cache "$root/etc"
        mount --bind "$root/etc" /etc
        mount --bind "$root/lib" /var/lib
        exec "$@"
        """#

    /// Files, and links by what they name.
    private static let files: [String: String?] = [
        "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": nil,
        "etc/pki/tls/certs/ca-bundle.crt": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "etc/pki/tls/cert.pem": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "etc/pki/tls/openssl.cnf": nil,
        "etc/pki/tls/private/server.key": nil,
        "etc/pki/tls/server.key": nil,
        "etc/crypto-policies/back-ends/opensslcnf.config": nil,
        "etc/ca-certificates/extracted/tls-ca-bundle.pem": nil,
        "etc/ssl/certs/ca-certificates.crt": "../../ca-certificates/extracted/tls-ca-bundle.pem",
        "etc/ssl/cert.pem": "certs/ca-certificates.crt",
        "etc/ssl/ca-bundle.pem": "/var/lib/ca-certificates/ca-bundle.pem",
        "etc/ssl/openssl.cnf": nil,
        "etc/ssl/private/server.key": nil,
        "etc/ssl/server.key": nil,
        "lib/ca-certificates/ca-bundle.pem": nil,
        "lib/ca-certificates/openssl/a.pem": nil,
        "lib/other": nil,
    ]

    init() throws {
        folder = try TemporaryFolder()
        for (path, target) in Self.files {
            let parent = folder.file(String(path[..<path.lastIndex(of: "/")!]))
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            if let target { symlink(target, folder.file(path)) } else { try folder.write(path, text: "x") }
        }
    }

    private func isRead(_ path: String, by role: String) async throws -> Bool {
        let policy = String(decoding: try JSONEncoder().encode(TransferPolicy()), as: UTF8.self)
        let outcome = try await ChildProcess.run(
            "unshare",
            ["-rm", "sh", "-c", Self.script, "sh", folder.path, Programs.path("HostileChild")]
                + [role, "reads_file", path, policy])
        guard outcome.output == "succeeded 0\n" else {
            #expect(outcome.output.hasPrefix("refused: "), "\(path): \(outcome)")
            return false
        }
        return true
    }

    @Test(.enabled("needs user namespaces") { try await mayMount })
    func `a transfer finds the certificates of any distribution, and no private key beside them`() async throws {
        for file in Self.files.keys.sorted() {
            let path = file.hasPrefix("lib/") ? "/var/\(file)" : "/\(file)"
            let isSecret = file.hasSuffix(".key") || file == "lib/other"
            #expect(try await isRead(path, by: "free"), "\(path)")
            for role in ["transfer", "callbacks"] {
                #expect(try await isRead(path, by: role) == !isSecret, "\(path) by \(role)")
            }
        }
    }
}
