import Dashboard
import Glibc
import Lifecycle
import TestSupport
import Testing

@Suite struct HTTPListenerTests {
    private static let routes = HTTPRoutes([
        "/hello": { HTTPResponse("you asked for \($0.path)\n") },
        "/sick": { _ in HTTPResponse(status: 503, "no\n") },
    ])

    @Test func `answers from its table`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), routes: Self.routes)
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

    @Test func `refuses a line that is longer than its memory, and goes on`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("[::1]:0")), routes: Self.routes)
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
    func `knows its own paths alone, and repeats nothing of others`(path: String) async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), routes: Self.routes)
        let answers = try await exchange(
            listener.port, "GET \(path) HTTP/1.1",
            "GET \(path)?<script> HTTP/1.1\u{1}Host: <script>\u{1}X-Planted: <script>")
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
            on: #require(ListenAddress("127.0.0.1:0")), routes: Self.routes, patience: .seconds(1))
        let script = """
            import select, socket, sys, time
            port, start = int(sys.argv[1]), sys.argv[2].encode()
            slow = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(32)]
            for s in slow: s.sendall(start)
            alive, end = list(slow), time.time() + 30
            while alive and time.time() < end:
                for s in list(alive):
                    try:
                        if select.select([s], [], [], 0)[0] and not s.recv(1): raise ConnectionError
                        s.sendall(b"x")
                    except ConnectionError: alive.remove(s)
                time.sleep(0.1)
            s = socket.create_connection(("127.0.0.1", port), 5)
            s.sendall(b"GET /hello HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
            print(len(alive), s.recv(100).split(b"\\r\\n")[0].decode())
            # A client that asks again and again is not cut off, however long it stays.
            for _ in range(15):
                s.sendall(b"GET /sick HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                print(s.recv(4000).split(b" ")[-1][:0].decode(), end="")
                time.sleep(0.1)
            print("still there")
            """
        let outcome = try await ChildProcess.run("python3", ["-c", script, "\(listener.port)", start])
        #expect(outcome.output == "0 HTTP/1.1 200 OK\nstill there\n", "\(outcome.output) \(outcome.errors)")
    }

    /// From addresses that are all of this machine, each with more slow connections than it may have.
    @Test func `slow connections from many addresses do not keep a health check waiting`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), routes: Self.routes)
        let script = """
            import select, socket, sys, time
            port = int(sys.argv[1])
            def open(host, text):
                s = socket.create_connection(("127.0.0.1", port), 5, (host, 0))
                s.sendall(text)
                return s
            slow, longest = [], 0
            for round in range(20):
                for n in range(2, 12): slow.append(open(f"127.0.0.{n}", b"GET /he"))
                start = time.time()
                s = open("127.0.0.1", b"GET /hello HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                s.settimeout(5)
                if not s.recv(100).startswith(b"HTTP/1.1 200"): print("no answer in round", round)
                longest = max(longest, time.time() - start)
                s.close()
            time.sleep(0.5)
            held = [s for s in slow if not select.select([s], [], [], 0)[0]]
            print(len(held) <= 32, longest < 2)
            """
        let outcome = try await ChildProcess.run("python3", ["-c", script, "\(listener.port)"])
        #expect(outcome.output == "True True\n", "\(outcome.output) \(outcome.errors.suffix(300))")
    }

    @Test func `refuses a body at once, and a header without end`() async throws {
        let listener = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), routes: Self.routes)
        let lines = String(repeating: "\u{1}X-Long: \(String(repeating: "a", count: 1000))", count: 100)
        let answers = try await exchange(
            listener.port, "POST /hello HTTP/1.1\u{1}Content-Length: 99999999", "GET /hello HTTP/1.1\(lines)",
            "GET /hello HTTP/1.1")
        #expect(answers[0].hasPrefix("HTTP/1.1 405 "))
        #expect(answers[1].isEmpty || answers[1].hasPrefix("HTTP/1.1 431 "), "\(answers[1].prefix(100))")
        #expect(answers[2].hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `frees its port, its thread and its descriptors when it is released`() async {
        await #expect(processExitsWith: .success) {
            let address = try #require(ListenAddress("127.0.0.1:0"))
            func open() -> Int { (0..<256).filter { fcntl($0, F_GETFD) != -1 }.count }
            do { _ = try HTTPListener(on: address, routes: HTTPRoutes([:])) }
            let before = open()
            for _ in 0..<20 {
                let listener = try HTTPListener(on: address, routes: HTTPRoutes([:]))
                let same = try #require(ListenAddress("127.0.0.1:\(listener.port)"))
                do {
                    _ = try HTTPListener(on: same, routes: HTTPRoutes([:]))
                    preconditionFailure("two listeners on one port")
                } catch let error as Errno {
                    precondition(error == Errno(rawValue: EADDRINUSE))
                }
                withExtendedLifetime(listener) {}
            }
            // The runtime may open one or two of its own meanwhile; each listener has four.
            precondition(open() < before + 20)
        }
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80"), ("9464", "127.0.0.1:9464"), (":9464", "127.0.0.1:9464"),
        ("localhost:1", "127.0.0.1:1"), ("0.0.0.0:9464", "0.0.0.0:9464"), ("[::1]:0", "[::1]:0"),
        ("127.0.0.1", nil), ("::1:80", nil), ("example.org:80", nil), ("127.0.0.1:70000", nil), ("", nil),
        ("[::1]", nil),
    ])
    func `reads an address, which is on loopback unless it says otherwise`(text: String, expected: String?) {
        #expect(ListenAddress(text)?.description == expected)
    }

    /// Sends each request on a connection of its own, and answers all that comes back.
    private func exchange(_ port: UInt16, host: String = "127.0.0.1", _ lines: String...) async throws -> [String] {
        let script = """
            import socket, sys
            for line in sys.stdin.read().split("\\n"):
                with socket.create_connection((sys.argv[1], int(sys.argv[2])), 5) as s:
                    answer = b""
                    try:
                        line = line.replace("\\1", "\\r\\n")
                        s.sendall(f"{line}\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n".encode())
                        while chunk := s.recv(65536): answer += chunk
                    except ConnectionError: pass
                    sys.stdout.buffer.write(answer + b"\\0")
            """
        let outcome = try await ChildProcess.run(
            "python3", ["-c", script, host, "\(port)"], input: .bytes(Array(lines.joined(separator: "\n").utf8)))
        #expect(outcome.succeeded, "\(outcome.errors)")
        return outcome.output.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
    }
}
