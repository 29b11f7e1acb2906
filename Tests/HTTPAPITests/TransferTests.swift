import FoundationEssentials
import Glibc
import HTTPServer
import Lifecycle
import Synchronization
import TestSupport
import Testing

/// Bodies and files that are received and sent over connections.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct TransferTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func listener(
        _ service: ListenerService, at path: String? = nil, limits: ConnectionLimits = ConnectionLimits(),
        timeout: Duration = .seconds(20)
    ) throws -> HTTPListener {
        let address = try #require(ListenAddress(path.map { "unix:\($0)" } ?? "127.0.0.1:0"))
        return try HTTPListener(on: address, service: service, limits: limits, requestTimeout: timeout)
    }

    /// What a client gets that sends a body until it is answered.
    private struct Exchange: Decodable {
        let sent: Int
        let answer: String
    }

    private func sendEndlessBody(_ port: UInt16, _ path: String) async throws -> Exchange {
        let outcome = try await ChildProcess.run("python3", [Script.path("endless_body.py"), "\(port)", path])
        return try JSONDecoder().decode(Exchange.self, from: Data(outcome.output.utf8))
    }

    @Test func `a chunked body ends early when it is over the limit, or when its sink takes no more`() async throws {
        let sink = RecordingSink(maxBytes: 100_000)
        let listener = try listener(ListenerService(sink: sink))
        for (path, status, text) in [("/echo", 413, "the body is larger than 1000 bytes"), ("/sink", 507, "full")] {
            let exchange = try await sendEndlessBody(listener.port, path)
            #expect(exchange.answer.hasPrefix("HTTP/1.1 \(status) "), "\(path) \(exchange)")
            #expect(
                exchange.answer.contains("\r\nConnection: close\r\n") && exchange.answer.contains(text), "\(exchange)")
            #expect(exchange.sent < 32 << 20, "\(path) \(exchange.sent)")
        }
        // Nothing is called after a refusal, and nothing of the connections is left.
        #expect(sink.end == nil)
        let answer = try await rawExchange(listener.port, [rawRequest("POST /echo HTTP/1.1", body: "hello")])
        #expect(answer[0].hasPrefix("HTTP/1.1 201 "), "\(answer)")
        await listener.close()
    }

    @Test func `the time that the server takes is not charged to the client`() async throws {
        var limits = ConnectionLimits()
        limits.transferInterval = .milliseconds(200)
        // Four times as long as a client may take.
        let sink = RecordingSink(endPause: 1_600_000)
        let service = ListenerService(onWait: { try? await Task.sleep(for: .milliseconds(1600)) }, sink: sink)
        let listener = try listener(service, limits: limits, timeout: .milliseconds(400))
        // Again if a busy machine kept a client from sending its request in time.
        for (request, end) in [
            (rawRequest("PUT /sink HTTP/1.1", body: "hello"), " true"), (rawRequest("GET /wait HTTP/1.1"), "waited"),
        ] {
            try await eventually("a slow answer is sent") {
                try await rawExchange(listener.port, [request])[0].hasSuffix(end)
            }
        }
    }

    /// The kernel counts no bytes of a Unix socket.
    @Test func `a client of a Unix socket that sends or reads too slowly loses its connection`() async throws {
        var limits = ConnectionLimits()
        limits.transferInterval = .milliseconds(300)
        _ = FileManager.default.createFile(atPath: folder.file("file"), contents: Data(count: 8 << 20))
        let path = folder.file("file")
        let sink = RecordingSink()
        let service = ListenerService(
            sink: sink,
            file: {
                let file = HTTPFile(Descriptor(owning: open(path, O_RDONLY | O_CLOEXEC)), range: 0..<8 << 20)
                return HTTPResponse(contentType: "audio/wav", .file(file))
            })
        let socket = folder.file("socket")
        let listener = try listener(service, at: socket, limits: limits, timeout: .seconds(1))
        for mode in ["send", "read"] {
            let outcome = try await ChildProcess.run("python3", [Script.path("held_clients.py"), mode, socket])
            #expect(outcome.output == "closed\n", "\(mode) \(outcome)")
        }
        try await eventually("the sink has ended") { sink.end == false }
        let usual = try self.listener(service, at: socket + "2")
        let whole = try await rawExchange(0, [rawRequest("GET /file HTTP/1.1")], host: socket + "2")
        await usual.close()
        #expect(whole[0].utf8.count > 8 << 20 && whole[0].hasSuffix(String(repeating: "\0", count: 1000)))
        await listener.close()
    }

    @Test func `a stream that is not read keeps no more than its limit`() {
        let stream = HTTPStream(maxPendingBytes: 1000)
        #expect(stream.send([UInt8](repeating: 0, count: 600)) && !stream.send([UInt8](repeating: 0, count: 600)))
        #expect(stream.send([UInt8](repeating: 0, count: 400)) && !stream.send([0]) && !stream.isIdle)
    }

    @Test func `half of the connections of an address may send or receive files`() {
        let limits = ConnectionLimits(perAddress: 200, streamsPerAddress: 16)
        #expect(limits.transfersPerAddress == 100 && limits.transfers == 100)
        let usual = ConnectionLimits(perAddress: 16, streamsPerAddress: 16)
        #expect(usual.transfersPerAddress == 8 && usual.transfers == 64)
        #expect(ConnectionLimits(perAddress: 1, streamsPerAddress: 1).transfersPerAddress == 1)
    }

    @Test func `a listener that ends leaves the Unix socket of another that replaced it`() async throws {
        let path = folder.file("socket")
        var first: HTTPListener? = try listener(ListenerService(), at: path)
        #expect(unlink(path) == 0)
        let second = try listener(ListenerService(), at: path)
        await first?.close()
        first = nil
        let answer = try await rawExchange(0, [rawRequest("GET /hello HTTP/1.1")], host: path)
        #expect(answer[0].hasSuffix("hello"), "\(answer)")
        await second.close()
    }

    @Test func `idle connections are closed first when there are too many`() async throws {
        var limits = ConnectionLimits()
        limits.perAddress = 3
        let (isStarted, isReleased) = (CancellationFlag(), CancellationFlag())
        let service = ListenerService(onWait: {
            isStarted.raise()
            while !isReleased.isRaised { try? await Task.sleep(for: .milliseconds(10)) }
        })
        let listener = try listener(service, limits: limits)
        let clients = try await ChildProcess(
            "python3", [Script.path("held_clients.py"), "idle", "\(listener.port)"], input: .open)
        try await eventually("a request is being processed") { isStarted.isRaised }
        await clients.write("go on\n")
        try await eventually("the idle one is closed") { clients.output.contains("\n") || !clients.isRunning }
        isReleased.raise()
        let outcome = await clients.wait()
        #expect(outcome.output == "200 closed\n201 200\n", "\(outcome)")
        await listener.close()
    }
}
