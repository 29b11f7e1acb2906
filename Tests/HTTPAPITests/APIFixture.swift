import Crypto
import FoundationEssentials
import HTTPAPI
import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import Redis
import TestSupport
import Testing

/// A server of the API with a Redis that no other test uses meanwhile.
struct APIFixture {
    let server: RedisServer
    let queue: JobQueue
    let hub: EventHub
    let port: UInt16
    let listener: HTTPListener

    static let job = #"{"source": "https://example.org/a.flac", "format": "mp3"}"#

    /// Runs the body on a fresh server, and the audit of the queue after it. The tokens are `ROLE-token` for each line's name.
    static func run(
        tokens: String? = nil, keepsHouse: Bool = true, host: String = "127.0.0.1", outputs: OutputFolder? = nil,
        uploads: UploadFolder? = nil, previews: PreviewFolder? = nil, proxy: ProxyPath = ProxyPath()!,
        _ body: (APIFixture) async throws -> Void
    ) async throws {
        let server = try await RedisServer.borrowed()
        let client = server.client()
        let other = server.client()
        let queues = [
            JobQueue(client: client, name: .default), JobQueue(client: other, name: try QueueName("other")),
        ]
        let log = Log(least: .error)
        let address = try #require(ListenAddress("\(host):0"))
        let housekeeping = Housekeeping(queues: queues, uploads: uploads, previews: previews, log: log)
        let hubs = queues.map { EventHub(queue: $0, log: log) }
        let feed = BlockingRedisClient(url: server.url, name: "test-events")
        var opened = EventFeed(client: feed)
        try await opened.open()
        let events = Task { [opened] in await hubs[0].run(opened) }
        let metrics = ServerMetrics(queues: queues, hubs: hubs)
        await metrics.start()
        let service = APIService(
            queues: queues, hubs: hubs, address: address,
            tokens: try tokens.map { try AccessTokens($0, origin: "test") },
            hosts: ["api.example.org"], outputs: outputs, uploads: uploads, previews: previews, proxy: proxy, log: log,
            metrics: metrics
        ) { housekeeping.isReady }
        let listener = try HTTPListener(on: address, service: MeasuredService(service, metrics), threads: 4)
        let task = Task { if keepsHouse { await housekeeping.run() } }
        try await body(
            APIFixture(server: server, queue: queues[0], hub: hubs[0], port: listener.port, listener: listener))
        await listener.close()
        task.cancel()
        events.cancel()
        await task.value
        await events.value
        await feed.close()
        if !(try await QueueAudit(queues[0]).problems().isEmpty) { Issue.record("the audit found problems") }
        for client in [client, other] { await client.close() }
        try await server.giveBack()
    }

    /// A line of the file of tokens; the token is `NAME-secret`.
    static func token(_ name: String, _ role: String, _ scope: String = "") -> String {
        "\(name) \(role) \(Digest.of(Array("\(name)-secret".utf8))) \(scope)\n"
    }

    /// The response to a request.
    struct Answer {
        let status: Int
        let head: String
        let body: String

        /// The member of an object by a path of names and indexes.
        subscript(_ path: String) -> JSONValue? {
            var value = try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
            for name in path.split(separator: ".") {
                switch value {
                case .object(let members): value = members[String(name)]
                case .array(let items): value = Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
                default: value = nil
                }
            }
            return value
        }

        /// The member as text.
        func text(_ path: String) -> String? { self[path]?.field }
    }

    func send(
        _ line: String, _ body: String? = nil, token: String? = nil, headers: [String] = []
    ) async throws -> Answer {
        try await sendAll([(line, body, token, headers)])[0]
    }

    /// The response to a request whose body is not JSON.
    func sendRaw(
        _ line: String, _ body: String = "", token: String? = nil, headers: [String] = []
    ) async throws -> Answer {
        let length =
            headers.contains { $0.hasPrefix("Transfer-Encoding") } ? [] : ["Content-Length: \(body.utf8.count)"]
        return try await sendAll([(line, nil, token, headers + length)], then: body)[0]
    }

    func sendAll(
        _ requests: [(line: String, body: String?, token: String?, headers: [String])], then rest: String = ""
    ) async throws -> [Answer] {
        let texts = requests.map { request in
            var head = ["\(request.line) HTTP/1.1", "Connection: close"] + request.headers
            if !request.headers.contains(where: { $0.hasPrefix("Host:") }) { head.append("Host: localhost:\(port)") }
            if let token = request.token { head.append("Authorization: Bearer \(token)-secret") }
            if let body = request.body {
                head += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
            }
            return head.joined(separator: "\r\n") + "\r\n\r\n" + (request.body ?? rest)
        }
        return try await rawExchange(port, texts).map { text in
            let end = text.firstRange(of: "\r\n\r\n")
            let head = String(text[..<(end?.lowerBound ?? text.endIndex)])
            return Answer(
                status: Int(head.dropFirst(9).prefix(3)) ?? 0, head: head,
                body: String(text[(end?.upperBound ?? text.endIndex)...]))
        }
    }
}
