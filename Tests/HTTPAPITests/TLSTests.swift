import FoundationEssentials
import Glibc
import HTTPServer
import Lifecycle
import Synchronization
import TestSupport
import Testing

/// A listener with a certificate.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TLSTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var certificate: String { folder.file("server.pem") }
    private var key: String { folder.file("server.key") }

    /// Makes a certificate that signs itself, and its key.
    private func makeCertificate(_ words: [String] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        async throws
    {
        let outcome = try await ChildProcess.run(
            "openssl",
            ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"] + words
                + ["-addext", "subjectAltName=DNS:localhost,DNS:api.example.org", "-keyout", key, "-out", certificate])
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(chmod(key, 0o640) == 0)
    }

    private func listener(
        _ service: ListenerService = ListenerService(), _ limits: ConnectionLimits = ConnectionLimits(),
        timeout: Duration = .seconds(20)
    ) async throws -> (listener: HTTPListener, files: CertificateFiles) {
        try await makeCertificate()
        let files = try CertificateFiles(certificate: certificate, key: key)
        let address = try #require(ListenAddress("127.0.0.1:0"))
        let listener = try HTTPListener(
            on: address, service: service, limits: limits, requestTimeout: timeout, certificate: files)
        return (listener, files)
    }

    /// What curl prints that trusts the certificate.
    private func curl(_ port: UInt16, _ words: String..., host: String = "localhost", scheme: String = "https")
        async throws
        -> Outcome
    {
        try await ChildProcess.run(
            "curl",
            ["--silent", "--cacert", certificate, "--resolve", "\(host):\(port):127.0.0.1"] + words
                + ["\(scheme)://\(host):\(port)/hello"])
    }

    @Test func `TLS 1.2 and 1.3 are served to clients that verify the certificate, and nothing else`() async throws {
        let (listener, _) = try await listener()
        for version in ["1.2", "1.3"] {
            let outcome = try await curl(listener.port, "--tlsv\(version)", "--tls-max", version)
            #expect(outcome.output == "hello", "\(version) \(outcome.errors)")
        }
        let words = ["--tlsv1.0", "--ciphers", "DEFAULT:@SECLEVEL=0"]
        #expect(try await curl(listener.port, words[0], words[1], words[2], "--tls-max", "1.1").exitCode == 35)
        for cipher in ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA"] {
            #expect(try await curl(listener.port, "--tls-max", "1.2", "--ciphers", cipher).exitCode == 35, "\(cipher)")
        }
        #expect(try await curl(listener.port, scheme: "http").output == "")
        // Browsers would use TLS for all servers of this machine.
        #expect(try await !curl(listener.port, "-i").output.contains("Strict-Transport"))
        let named = try await curl(listener.port, "-i", host: "api.example.org").output
        #expect(named.contains("\r\nStrict-Transport-Security: max-age=86400\r\n"), "\(named)")
        await listener.close()
    }

    @Test func `bodies, files and streams go over TLS, and a body ends early`() async throws {
        let path = folder.file("file")
        let content = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        _ = FileManager.default.createFile(atPath: path, contents: content)
        let streams = Mutex<[HTTPStream]>([])
        let sink = RecordingSink(pause: 50_000, maxBytes: 600_000)
        let (listener, _) = try await listener(
            ListenerService(
                onStream: { stream in streams.withLock { $0.append(stream) } }, sink: sink,
                file: {
                    let file = HTTPFile(Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC)), range: 5..<3 << 20)
                    return HTTPResponse(contentType: "audio/wav", .file(file))
                }))
        let body = String((0..<50_000).map { String($0 % 10) + "abcdefgh\n" }.joined().prefix(500_000))
        let answers = try await rawExchange(
            listener.port, [rawRequest("PUT /sink HTTP/1.1", body: body), rawRequest("GET /file HTTP/1.1")],
            hasTLS: true)
        #expect(answers[0].hasSuffix("\r\n\r\n500000 true"), "\(answers[0])")
        #expect(String(decoding: sink.received, as: UTF8.self) == body)
        #expect(
            Array(answers[1].unicodeScalars.suffix(content.count - 5)).map { UInt8($0.value) }
                == Array(content.dropFirst(5)))
        let stream = Task {
            try await rawExchange(listener.port, [rawRequest("GET /stream HTTP/1.1")], hasTLS: true)[0]
        }
        try await eventually("the stream is open") { streams.withLock { $0.count } == 1 }
        #expect(streams.withLock { $0[0] }.send(Array("piece\n".utf8)))
        try await eventually("the piece was sent") { streams.withLock { $0[0].isIdle } }
        let endless = try await ChildProcess.run(
            "python3", [Script.path("endless_body.py"), "\(listener.port)", "/sink", "tls"])
        #expect(endless.output.contains("HTTP/1.1 507 "), "\(endless.output) \(endless.errors)")
        await listener.close()
        let text = try await stream.value
        #expect(text.contains("piece\n") && text.hasSuffix("0\r\n\r\n"), "\(text)")
    }

    @Test func `a renewed certificate is taken up, and one that is not valid is not`() async throws {
        let streams = Mutex<[HTTPStream]>([])
        let (listener, files) = try await listener(
            ListenerService(onStream: { stream in streams.withLock { $0.append(stream) } }))
        let stream = Task {
            try await rawExchange(listener.port, [rawRequest("GET /stream HTTP/1.1")], hasTLS: true)[0]
        }
        try await eventually("the stream is open") { streams.withLock { $0.count } == 1 }
        #expect(try !files.refresh())
        let old = try #require(FileManager.default.contents(atPath: certificate))
        try await makeCertificate(["-newkey", "rsa:2048"])
        #expect(try await curl(listener.port).exitCode == 60)
        // A key alone, while both are being replaced.
        let new = try #require(FileManager.default.contents(atPath: certificate))
        try old.write(to: URL(filePath: certificate))
        #expect(throws: CertificateError.self) { try files.refresh() }
        #expect(try await curl(listener.port).output == "hello")
        try new.write(to: URL(filePath: certificate))
        #expect(try files.refresh() && !files.refresh())
        #expect(try await curl(listener.port).output == "hello")
        // The stream of the old certificate goes on.
        #expect(streams.withLock { $0[0] }.send(Array("later\n".utf8)))
        try await eventually("the piece was sent") { streams.withLock { $0[0].isIdle } }
        await listener.close()
        #expect(try await stream.value.contains("later\n"))
    }

    @Test func `clients that are silent in their handshake are closed, the oldest first`() async throws {
        var limits = ConnectionLimits()
        limits.perAddress = 2
        let (listener, _) = try await listener(ListenerService(), limits, timeout: .seconds(1))
        let outcome = try await ChildProcess.run(
            "python3", [Script.path("held_clients.py"), "handshake", "\(listener.port)"])
        #expect(outcome.output == "closed closed closed\n", "\(outcome)")
        #expect(try await curl(listener.port).output == "hello")
        await listener.close()
    }

    @Test func `files that cannot be used are refused with the reason`() async throws {
        try await makeCertificate()
        let words = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"]
        for (name, more) in [("other.key", []), ("secret.key", ["-aes-128-cbc", "-pass", "pass:x"])] {
            #expect(try await ChildProcess.run("openssl", words + [folder.file(name)] + more).exitCode == 0)
            #expect(chmod(folder.file(name), 0o600) == 0)
        }
        let text = try folder.write("text", text: "no PEM")
        #expect(chmod(text, 0o600) == 0)
        let open = folder.file("open.key")
        try FileManager.default.copyItem(atPath: key, toPath: open)
        #expect(chmod(open, 0o644) == 0)
        let cases: [(String, String, Bool, String)] = [
            (folder.file("none"), key, false, "none' cannot be read: No such file or directory"),
            (certificate, folder.file("none"), true, "none' cannot be read: No such file or directory"),
            (text, key, false, "text' has no certificate in PEM"),
            (certificate, text, true, "text' has no private key in PEM"),
            (certificate, folder.file("other.key"), true, "other.key' is not that of the first certificate in '"),
            (certificate, folder.file("secret.key"), true, "secret.key' has a passphrase"),
            (certificate, open, true, "everybody can read the key in '"), (folder.path, key, false, "is not a file"),
        ]
        for (certificate, key, isKey, reason) in cases {
            do throws(CertificateError) {
                _ = try CertificateFiles(certificate: certificate, key: key)
                Issue.record("\(reason) is not found")
            } catch {
                switch error {
                case .certificate(let message): #expect(!isKey && message.contains(reason), "\(message)")
                case .key(let message): #expect(isKey && message.contains(reason), "\(message)")
                }
            }
        }
    }
}
