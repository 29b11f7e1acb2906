import TestSupport

/// A certificate authority made for one test, and servers' certificates signed by it.
struct Certificates {
    let folder: TemporaryFolder

    var authority: String { folder.file("ca.pem") }

    /// Makes the authority, and a certificate `server` for `localhost` and 127.0.0.1.
    init() async throws {
        folder = try TemporaryFolder()
        try await openssl(["req", "-x509", "-nodes", "-subj", "/CN=test authority", "-days", "2"] + key("ca"))
        try await sign("server", names: "DNS:localhost,IP:127.0.0.1")
    }

    /// Makes a certificate for the names.
    func sign(_ file: String, names: String) async throws {
        try folder.write("\(file).ext", text: "subjectAltName=\(names)\n")
        try await openssl(["req", "-nodes", "-subj", "/CN=\(file)"] + key(file))
        try await openssl([
            "x509", "-req", "-days", "2", "-in", "\(file).pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-extfile", "\(file).ext", "-out", "\(file).pem",
        ])
    }

    /// The options of a server that speaks TLS on the port, with the certificate, and asks its clients for theirs or not.
    func options(
        port: UInt16, _ file: String = "server", asksClients: Bool = false
    ) -> KeyValuePairs<String, String> {
        [
            "tls-port": "\(port)", "tls-cert-file": folder.file("\(file).pem"),
            "tls-key-file": folder.file("\(file).key"), "tls-ca-cert-file": authority,
            "tls-auth-clients": asksClients ? "yes" : "no",
        ]
    }

    private func key(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", "\(file).key", "-out", "\(file).pem"]
    }

    private func openssl(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run("openssl", arguments, folder: folder.path)
        guard outcome.succeeded else { throw NotInTime(description: outcome.errors) }
    }
}
