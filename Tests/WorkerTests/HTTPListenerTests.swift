import Glibc
import HTTPServer
import Lifecycle
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct HTTPListenerTests {
    private static let routes = HTTPRoutes([
        "/hello": { HTTPResponse("you asked for \($0.path)\n") },
        "/sick": { _ in HTTPResponse(status: 503, "no\n") },
    ])

    @Test func `the listener answers from its table`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: Self.routes)
        let answers = try await exchange(
            listener.port,
            "GET /hello?a=b HTTP/1.1", "HEAD /hello HTTP/1.1", "GET /sick HTTP/1.1", "GET /nothing HTTP/1.1",
            "POST /hello HTTP/1.1")
        #expect(answers[0].hasPrefix("HTTP/1.1 200 "))
        #expect(answers[0].hasSuffix("\r\n\r\nyou asked for /hello\n"))
        #expect(answers[0].contains("Content-Type: text/plain; charset=utf-8\r\n"))
        #expect(answers[1].hasPrefix("HTTP/1.1 200 "))
        #expect(answers[1].contains("Content-Length: 21\r\n"))
        #expect(answers[1].hasSuffix("\r\n\r\n"))
        #expect(answers[2].hasPrefix("HTTP/1.1 503 "))
        #expect(answers[3].hasPrefix("HTTP/1.1 404 "))
        #expect(answers[3].contains("/hello, /sick"))
        #expect(answers[4].hasPrefix("HTTP/1.1 405 "))
        #expect(answers[4].contains("Allow: GET, HEAD\r\n"))
    }

    @Test func `a line that is longer than the listener's memory is refused, and the next is answered`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("[::1]:0")), service: Self.routes)
        let long = String(repeating: "a", count: 100_000)
        let answers = try await exchange(
            listener.port, host: "::1", "GET /\(long) HTTP/1.1", "nonsense", "GET /hello HTTP/1.1")
        #expect(answers[0].isEmpty || answers[0].hasPrefix("HTTP/1.1 414 "))
        #expect(!answers[1].hasPrefix("HTTP/1.1 200 "))
        #expect(answers[2].hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: [
        "/../hello", "/%2e%2e/hello", "/./hello", "//hello", "/hello/", "/hello%00", "/hello%00.png", "/HELLO",
        "/hello;x",
        "/<script>alert(1)</script>", "/%3Cscript%3E", "/hello%0d%0aX-Planted:%201", "http://planted.example/hello2",
        "*", "/hello\\..\\x", "/" + String(repeating: "%41", count: 3000),
    ])
    func `an unknown path is refused, and its text is not repeated`(path: String) async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: Self.routes)
        let answers = try await exchange(
            listener.port, "GET \(path) HTTP/1.1",
            "GET \(path)?<script> HTTP/1.1\r\nHost: <script>\r\nX-Planted: <script>")
        for answer in answers.prefix(2) {
            #expect(["404", "400"].contains(answer.dropFirst("HTTP/1.1 ".count).prefix(3)), "\(answer)")
            #expect(!answer.contains("script") && !answer.contains("lanted") && !answer.contains("AAAA"))
        }
    }

    /// A byte now and then, of a line, of a header and of a body: each would hold its connection for good.
    @Test(arguments: [
        "GET /he", "GET /hello HTTP/1.1\r\nX-Long: ",
        "GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n",
    ])
    func `slow clients do not keep others away`(start: String) async throws {
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")), service: Self.routes, requestTimeout: .seconds(1))
        let outcome = try await ChildProcess.run(
            "python3", [Script.path("slow_clients.py"), "\(listener.port)", start])
        #expect(outcome.output == "0 HTTP/1.1 200 OK\nstill there\n", "\(outcome.output) \(outcome.errors)")
    }

    /// From addresses that are all of this machine, each with more slow connections than it may have.
    @Test func `slow connections from many addresses do not keep a health check waiting`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: Self.routes)
        let outcome = try await ChildProcess.run("python3", [Script.path("many_addresses.py"), "\(listener.port)"])
        #expect(outcome.output == "True True\n", "\(outcome.output) \(outcome.errors.suffix(300))")
    }

    @Test func `a body is refused at once, and a header without end`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: Self.routes)
        let lines = String(repeating: "\r\nX-Long: \(String(repeating: "a", count: 1000))", count: 100)
        let answers = try await exchange(
            listener.port, "POST /hello HTTP/1.1\r\nContent-Length: 99999999", "GET /hello HTTP/1.1\(lines)",
            "GET /hello HTTP/1.1")
        #expect(answers[0].hasPrefix("HTTP/1.1 405 "))
        #expect(answers[1].isEmpty || answers[1].hasPrefix("HTTP/1.1 431 "), "\(answers[1].prefix(100))")
        #expect(answers[2].hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `a released listener frees its port, its thread and its descriptors`() async {
        await #expect(processExitsWith: .success) {
            let address = try #require(ListenAddress("127.0.0.1:0"))
            func open() -> Int { (0..<256).filter { fcntl($0, F_GETFD) != -1 }.count }
            do { _ = try HTTPListener(on: address, service: HTTPRoutes([:])) }
            let before = open()
            for _ in 0..<20 {
                let listener = try HTTPListener(on: address, service: HTTPRoutes([:]))
                let same = try #require(ListenAddress("127.0.0.1:\(listener.port)"))
                do {
                    _ = try HTTPListener(on: same, service: HTTPRoutes([:]))
                    preconditionFailure("two listeners on one port")
                } catch let error as Errno {
                    precondition(error == Errno(rawValue: EADDRINUSE))
                }
                withExtendedLifetime(listener) {}
            }
            // A thread of its own closes each. The runtime may open one or two of its own meanwhile; each listener has four.
            try await eventually("the descriptors are closed") { open() < before + 20 }
        }
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80"), ("9464", "127.0.0.1:9464"), (":9464", "127.0.0.1:9464"),
        ("localhost:1", "127.0.0.1:1"), ("0.0.0.0:9464", "0.0.0.0:9464"), ("[::1]:0", "[::1]:0"),
        ("127.0.0.1", nil), ("::1:80", nil), ("example.org:80", nil), ("127.0.0.1:70000", nil), ("", nil),
        ("[::1]", nil),
    ])
    func `an address is parsed, and is on loopback by default`(text: String, expected: String?) {
        #expect(ListenAddress(text)?.description == expected)
    }

    /// Sends each request on a connection of its own, and answers all that comes back.
    private func exchange(_ port: UInt16, host: String = "127.0.0.1", _ lines: String...) async throws -> [String] {
        let end = "Host: x\r\nConnection: close\r\n\r\n"
        return try await rawExchange(port, lines.map { "\($0)\r\n\(end)" }, host: host)
    }
}
