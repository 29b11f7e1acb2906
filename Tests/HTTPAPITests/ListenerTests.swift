import FoundationEssentials
import Glibc
import HTTPServer
import Lifecycle
import Synchronization
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ListenerTests {
    @Test func `a handler that waits gets the whole request, and its response is sent`() async throws {
        let listener = try Self.listener()
        let chunked = rawRequest("POST /echo HTTP/1.1", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n"
        let answers = try await rawExchange(
            listener.port,
            [
                rawRequest("POST /echo?a=1&a=%C3%A4+b HTTP/1.1", "X-Test: yes", body: "hello"), chunked,
                rawRequest("PATCH /echo HTTP/1.1"),
            ])
        #expect(answers[0].hasPrefix("HTTP/1.1 201 "))
        #expect(answers[0].hasSuffix("\r\n\r\nPOST a=1 a=\u{C3}\u{A4} b yes hello"), "\(answers[0])")
        #expect(answers[1].hasSuffix("\r\n\r\nPOST   hello"), "\(answers[1])")
        #expect(answers[2].hasSuffix("\r\n\r\nPATCH   "), "\(answers[2])")
    }

    @Test func `a body over the limit is refused, with and without a length`() async throws {
        let listener = try Self.listener()
        let long = String(repeating: "a", count: 1001)
        let answers = try await rawExchange(
            listener.port,
            [
                rawRequest("POST /echo HTTP/1.1", "Content-Length: 999999999"),
                rawRequest("POST /echo HTTP/1.1", "Transfer-Encoding: chunked") + "3e9\r\n\(long)\r\n0\r\n\r\n",
                rawRequest("POST /echo HTTP/1.1", body: String(long.dropLast())),
            ])
        #expect(answers[0].hasPrefix("HTTP/1.1 413 "), "\(answers[0])")
        #expect(answers[1].hasPrefix("HTTP/1.1 413 "), "\(answers[1])")
        #expect(answers[2].hasPrefix("HTTP/1.1 201 "), "\(answers[2])")
    }

    /// The limit is 24 KiB with what the library keeps of each line (docs/http-api.md).
    @Test(arguments: [(lines: 20, bytes: 1024, status: 200), (100, 50, 200), (24, 1024, 431), (200, 50, 431)])
    func `the lines of a header are limited in total`(lines: Int, bytes: Int, status: Int) async throws {
        let listener = try Self.listener()
        let header = (0..<lines).map { "X-\($0): \(String(repeating: "a", count: bytes))" }.joined(separator: "\r\n")
        let answers = try await rawExchange(listener.port, [rawRequest("GET /hello HTTP/1.1", header)])
        #expect(answers[0].hasPrefix("HTTP/1.1 \(status) "), "\(answers[0])")
    }

    /// A proxy may see another end of the first request than the listener does.
    @Test(arguments: [
        "Content-Length: 4\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: gzip, chunked", "Content-Length: 0\r\nX-Bad: a\u{1}b", "Host: other",
        "Content-Length : 5", "Content-Length\t: 5", "X: a\r\n Content-Length: 5", "X: a\nY: b", "X: a\u{0}b",
        "X: a\rY: b",
        ": a", "X(): a", "X: a\n",
    ])
    func `a request that can be read in two ways is refused, and nothing after it is answered`(
        headers: String
    ) async throws {
        let listener = try Self.listener()
        let smuggled = "POST /echo HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n\r\n0\r\n\r\n"
        let answers = try await rawExchange(
            listener.port, [smuggled + "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"])
        #expect(answers[0].hasPrefix("HTTP/1.1 400 "), "\(answers[0])")
        #expect(answers[0].components("HTTP/1.1 ") == 1, "\(answers[0])")
    }

    @Test(arguments: [
        "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "GET /hello HTTP/1.1\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: user@a\r\n\r\n", "GET /hello HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET /hello HTTP/1.1\nHost: a\r\n\r\n",
    ])
    func `a head that is not of the form of HTTP is refused`(text: String) async throws {
        let listener = try Self.listener()
        let answers = try await rawExchange(listener.port, [text])
        #expect(answers[0].hasPrefix("HTTP/1.1 400 "), "\(answers[0])")
    }

    @Test func `blanks around values and empty values are accepted`() async throws {
        let listener = try Self.listener()
        let text = "GET /hello HTTP/1.1\r\nHost: a:80 \r\nX:\r\nY: \r\nZ:\tb  \r\nConnection: close\r\n\r\n"
        let answers = try await rawExchange(
            listener.port,
            [
                text, "GET /hello HTTP/1.0\r\n\r\n",
                "GET /hello HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n",
            ])
        for answer in answers { #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)") }
    }

    @Test(arguments: ["GET", "DELETE", "PATCH", "QUERY"])
    func `a body that nobody wants is not taken for a request`(method: String) async throws {
        let listener = try Self.listener()
        let inner = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let outer = "\(method) /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(inner.utf8.count)\r\n\r\n"
        let answers = try await rawExchange(listener.port, [outer + inner])
        #expect(answers[0].components("HTTP/1.1 ") == 1, "\(answers[0])")
    }

    @Test func `handlers that wait do not keep others from being answered`() async throws {
        let isStarted = Mutex(false)
        let isReleased = Mutex(false)
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")),
            service: ListenerService(onWait: {
                isStarted.withLock { $0 = true }
                while !isReleased.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(10)) }
            }))
        let waiting = Task { try await rawExchange(listener.port, [rawRequest("POST /wait HTTP/1.1")]) }
        try await eventually("the request is being processed") { isStarted.withLock { $0 } }
        let answers = try await rawExchange(listener.port, [rawRequest("GET /hello HTTP/1.1")])
        #expect(answers[0].hasPrefix("HTTP/1.1 200 "))
        isReleased.withLock { $0 = true }
        #expect(try await waiting.value[0].hasSuffix("\r\n\r\nwaited"))
    }

    @Test func `a stream sends what comes, and ends when the listener is closed`() async throws {
        let streams = Mutex<[HTTPStream]>([])
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")),
            service: ListenerService(onStream: { stream in streams.withLock { $0.append(stream) } }))
        let answer = Task { try await rawExchange(listener.port, [rawRequest("GET /stream HTTP/1.1")])[0] }
        try await eventually("the stream is open") { streams.withLock { $0.count } == 1 }
        let stream = streams.withLock { $0[0] }
        for number in 1...3 {
            #expect(stream.send(Array("piece \(number)\n".utf8)))
            try await eventually("the piece was sent") { stream.isIdle }
        }
        await listener.close()
        #expect(!stream.send([0]))
        let text = try await answer.value
        #expect(text.hasSuffix("0\r\n\r\n"), "\(text)")
        #expect(text.contains("piece 1\n") && text.contains("piece 3\n"))
    }

    @Test func `streams over the limit of an address are refused`() async throws {
        var limits = ConnectionLimits()
        limits.streamsPerAddress = 2
        let streams = Mutex<[HTTPStream]>([])
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")),
            service: ListenerService(onStream: { stream in streams.withLock { $0.append(stream) } }), limits: limits)
        let open = (1...2).map { _ in
            Task { try await rawExchange(listener.port, [rawRequest("GET /stream HTTP/1.1")]) }
        }
        try await eventually("two streams are open") { streams.withLock { $0.count } == 2 }
        let third = try await rawExchange(listener.port, [rawRequest("GET /stream HTTP/1.1")])
        #expect(third[0].hasPrefix("HTTP/1.1 503 ") && third[0].contains("Retry-After: 5\r\n"), "\(third[0])")
        await listener.close()
        for task in open { #expect(try await task.value[0].hasPrefix("HTTP/1.1 200 ")) }
    }

    @Test func `a new connection closes none whose request is being processed`() async throws {
        let started = Mutex(0)
        let isReleased = Mutex(false)
        var limits = ConnectionLimits()
        limits.perAddress = 2
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")),
            service: ListenerService(onWait: {
                started.withLock { $0 += 1 }
                while !isReleased.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(10)) }
            }), limits: limits)
        let waiting = (1...2).map { _ in
            Task { try await rawExchange(listener.port, [rawRequest("POST /wait HTTP/1.1")])[0] }
        }
        try await eventually("both are being processed") { started.withLock { $0 } == 2 }
        let third = try await rawExchange(listener.port, [rawRequest("GET /hello HTTP/1.1")])[0]
        #expect(third.hasPrefix("HTTP/1.1 503 ") && third.contains("\r\nRetry-After: 1\r\n"), "\(third)")
        isReleased.withLock { $0 = true }
        for task in waiting { #expect(try await task.value.hasSuffix("waited")) }
        let fourth = try await rawExchange(listener.port, [rawRequest("GET /hello HTTP/1.1")])[0]
        #expect(fourth.hasPrefix("HTTP/1.1 200 "), "\(fourth)")
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["Content-Length: 500000", "Transfer-Encoding: chunked"])
    func `a body that arrives faster than its sink takes it waits, and comes whole and in order`(
        header: String
    ) async throws {
        let sink = RecordingSink(pause: 200_000)
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService(sink: sink))
        let bytes = String((0..<50_000).map { String($0 % 10) + "abcdefgh\n" }.joined().prefix(500_000))
        // Chunks of 10 bytes: libmicrohttpd reads many at once.
        let chunks = bytes.split(separator: "\n").map { "a\r\n\($0)\n\r\n" }.joined() + "0\r\n\r\n"
        let body = header.hasPrefix("C") ? bytes : chunks
        let answers = try await rawExchange(listener.port, [rawRequest("PUT /sink HTTP/1.1", header) + body])
        #expect(answers[0].hasSuffix("\r\n\r\n500000 true"), "\(answers[0])")
        #expect(String(decoding: sink.received, as: UTF8.self) == bytes)
        let empty = try await rawExchange(listener.port, [rawRequest("PUT /sink HTTP/1.1")])
        #expect(empty[0].hasSuffix(" true"), "\(empty[0])")
        await listener.close()
    }

    @Test func `a sink refuses a body before it is read, and learns that a connection was lost`() async throws {
        let sink = RecordingSink(refusal: HTTPResponse(status: 409, "no"))
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService(sink: sink))
        let expecting = rawRequest("PUT /sink HTTP/1.1", "Content-Length: 5", "Expect: 100-continue")
        let answers = try await rawExchange(listener.port, [expecting, expecting + "hello"])
        for answer in answers { #expect(answer.hasPrefix("HTTP/1.1 409 "), "\(answer)") }
        #expect(sink.received.isEmpty && sink.end == nil)
        let other = RecordingSink()
        let second = try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService(sink: other))
        let cut = Task {
            try await rawExchange(
                second.port, [rawRequest("PUT /sink HTTP/1.1", "Content-Length: 9") + "hello"], seconds: 1)
        }
        _ = try? await cut.value
        try await eventually("the sink has ended") { other.end == false }
        #expect(other.received.count == 5)
    }

    @Test func `a client that sends a body too slowly loses its connection`() async throws {
        var limits = ConnectionLimits()
        limits.transferInterval = .milliseconds(300)
        let sink = RecordingSink()
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService(sink: sink), limits: limits,
            requestTimeout: .seconds(1))
        let answers = try await rawExchange(
            listener.port, [rawRequest("PUT /sink HTTP/1.1", "Content-Length: 9") + "hello"], seconds: 20)
        #expect(answers == [""])
        try await eventually("the sink has ended") { sink.end == false }
    }

    @Test func `bodies over the limit of an address are refused`() async throws {
        var limits = ConnectionLimits()
        limits.transfersPerAddress = 0
        let listener = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService(sink: RecordingSink()), limits: limits)
        let answers = try await rawExchange(listener.port, [rawRequest("PUT /sink HTTP/1.1", body: "hello")])
        #expect(answers[0].hasPrefix("HTTP/1.1 503 "), "\(answers[0])")
    }

    @Test func `a Unix socket is served, replaces one that was left, and is removed`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("socket")
        for _ in 1...2 {
            let address = try #require(ListenAddress("unix:\(path)"))
            var listener: HTTPListener? = try HTTPListener(on: address, service: ListenerService())
            #expect(throws: (any Error).self) { try HTTPListener(on: address, service: ListenerService()) }
            let words = ["--silent", "--unix-socket", path, "http://localhost/hello"]
            #expect(try await ChildProcess.run("curl", words).output == "hello")
            await listener?.close()
            listener = nil
            #expect(access(path, F_OK) != 0)
            // As after a kill.
            let left = try #require(ListenAddress("unix:\(path)"))
            _ = try await ChildProcess.run(
                "python3",
                ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", left.path ?? ""])
            #expect(access(path, F_OK) == 0)
        }
        #expect(ListenAddress("unix:relative") == nil)
        let file = try #require(ListenAddress("unix:\(try folder.write("file", text: "kept"))"))
        #expect(throws: (any Error).self) { try HTTPListener(on: file, service: ListenerService()) }
        #expect(try String(contentsOfFile: folder.file("file"), encoding: .utf8) == "kept")
    }

    /// libmicrohttpd aborts the process if it is stopped while a connection is suspended.
    @Test func `a listener that is released sends the responses that are under way`() async {
        await #expect(processExitsWith: .success) {
            let isStarted = Mutex(false)
            let listener = try HTTPListener(
                on: #require(ListenAddress("127.0.0.1:0")),
                service: ListenerService(onWait: {
                    isStarted.withLock { $0 = true }
                    try? await Task.sleep(for: .seconds(1))
                }))
            let port = listener.port
            let answer = Task { try await rawExchange(port, [rawRequest("POST /wait HTTP/1.1")]) }
            try await eventually("the request is being processed") {
                isStarted.withLock { $0 }
            }
            _ = consume listener
            let answers = try await answer.value
            precondition(answers[0].hasSuffix("waited"))
        }
    }

    @Test func `a listener that is released does not wait for its requests`() async throws {
        let isStarted = Mutex(false)
        let isReleased = Mutex(false)
        var listener: HTTPListener? = try HTTPListener(
            on: #require(ListenAddress("127.0.0.1:0")),
            service: ListenerService(onWait: {
                isStarted.withLock { $0 = true }
                while !isReleased.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(10)) }
            }))
        let port = try #require(listener?.port)
        let answer = Task { try await rawExchange(port, [rawRequest("POST /wait HTTP/1.1")])[0] }
        try await eventually("the request is being processed") { isStarted.withLock { $0 } }
        listener = nil
        isReleased.withLock { $0 = true }
        #expect(try await answer.value.hasSuffix("waited"))
    }

    private static func listener() throws -> HTTPListener {
        try HTTPListener(on: #require(ListenAddress("127.0.0.1:0")), service: ListenerService())
    }
}

extension String {
    /// How often a text occurs.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
