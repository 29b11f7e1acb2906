import Configuration
import Foundation
import Glibc
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing
import Worker

/// Callbacks from a worker to a receiver, over HTTP.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct CallbackTests {
    private static let secrets = [
        "RESPOOL_CALLBACK_SECRET": CallbackReceiver.otherSecret + " " + CallbackReceiver.secret
    ]

    private func push(_ shop: Workshop, _ callback: String) async throws -> String {
        try await shop.push([
            "source": try shop.source("a.wav", Sounds.ramp(samples: 441)), "format": "flac", "callback": callback,
        ])
    }

    /// The job's callback, once it is in the state.
    private func callback(
        of id: String, _ shop: Workshop, reaches state: CallbackRecord.State, attempts: Int = 0
    ) async throws -> CallbackRecord {
        var last: CallbackRecord?
        do {
            try await eventually("", every: .milliseconds(20)) {
                last = try await shop.queue.callbacks(of: .job(id)).first
                return last?.state == state && last?.log.count ?? 0 >= attempts
            }
        } catch is NotInTime {
            throw NotInTime(description: "not \(state): \(String(describing: last))")
        }
        return try #require(last)
    }

    @Test func `a callback posts what the status shows, signed so that a receiver can verify it`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await shop.worker(Self.secrets)
        let path = "ok?key=hidden"
        let id = try await push(shop, receiver.url(path, host: "user:pass@127.0.0.1"))
        let request = try #require(try await receiver.requests(at: path).first)
        #expect(request.isGenuine && request.signatures == 2 && request.type == "application/json")
        #expect(request.user == "Basic \(Data("user:pass".utf8).base64EncodedString())")
        let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any])
        #expect(body["type"] as? String == "job.completed" && body["queue"] as? String == "default")
        let record = try await callback(of: id, shop, reaches: .delivered)
        #expect(record.id == request.id && record.attempt == 1 && record.log.first?.status == 200)
        let status = try await ChildProcess.run(
            Programs.path("respool"), ["status", id, "--json"],
            environment: shop.environment.merging(["RESPOOL_REDIS_URL": "unix://\(shop.redis.socket)"]) { $1 })
        let shown = try #require(
            try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any])
        #expect(NSDictionary(dictionary: shown) == NSDictionary(dictionary: body["data"] as? [String: Any] ?? [:]))
        try await worker.logs("callback delivered")
        for secret in ["hidden", "pass@", CallbackReceiver.secret] {
            #expect(!worker.errors.contains(secret) && !request.body.contains(secret))
        }
        #expect(receiver.requests.count == 1)
    }

    @Test func `a callback is sent again after a fault, under the same id, and not after a refusal`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await shop.worker(Self.secrets)
        let (faulty, gone, away) = (
            try await push(shop, receiver.url("500-once")), try await push(shop, receiver.url("410")),
            try await push(shop, receiver.url("away"))
        )
        let twice = try await receiver.requests(at: "500-once", count: 2)
        #expect(twice[0].id == twice[1].id && twice[0].body == twice[1].body && twice.allSatisfy(\.isGenuine))
        let delivered = try await callback(of: faulty, shop, reaches: .delivered)
        #expect(delivered.attempt == 2 && delivered.log.map(\.status) == [500, 200])
        let refused = try await callback(of: gone, shop, reaches: .failed)
        #expect(refused.attempt == 1 && refused.log.first?.message == "the receiver rejects it with status 410")
        // Redirects are not followed.
        let redirected = try await callback(of: away, shop, reaches: .waiting, attempts: 1)
        #expect(redirected.log.first?.status == 302 && redirected.dueAt != nil)
        #expect(!receiver.requests.contains { $0.path == "/ok" })
        try await worker.logs("callback failed:")
    }

    @Test func `a silent receiver delays no other receiver and no job`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await shop.worker(Self.secrets)
        for _ in 1...3 { _ = try await push(shop, receiver.url("hang")) }
        _ = try await receiver.requests(at: "hang", count: 2)
        let id = try await push(shop, receiver.url("ok", host: "localhost"))
        _ = try await callback(of: id, shop, reaches: .delivered)
        // The third may be the last to have its job done.
        try await eventually("all have a callback") {
            try await shop.queue.callbacks(limit: 10).count == 4
        }
        let states = try await shop.queue.callbacks(limit: 10).map(\.state)
        #expect(states.count { $0 == .delivered } == 1)
        #expect(states.allSatisfy { [.delivered, .sending, .waiting].contains($0) }, "\(states)")
        worker.kill(SIGTERM)
        #expect(await worker.wait().exitCode == 0)
    }

    @Test func `a callback never reaches an address that is allowed to sources only`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await shop.worker(Self.secrets.merging(["RESPOOL_ALLOW_OUTPUT_HOSTS": "10.0.0.0/8"]) { $1 })
        // What may be another name tomorrow is tried again.
        let named = try await push(shop, receiver.url("ok", host: "localhost"))
        try await eventually("the first attempt") {
            let records = try await shop.queue.callbacks(of: .job(named))
            return records.first?.log.first?.message.contains("RESPOOL_ALLOW_OUTPUT_HOSTS") == true
        }
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "2130706433"] {
            let id = try await push(shop, receiver.url("ok", host: host))
            let record = try await callback(of: id, shop, reaches: .failed)
            #expect(record.log.first?.message.contains("is not public") == true, "\(record)")
        }
        #expect(receiver.requests.isEmpty)
        withExtendedLifetime(worker) {}
    }

    @Test func `a callback whose worker or sender was killed before the answer is sent again under its id`()
        async throws
    {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let killed = try await shop.worker(Self.secrets)
        let id = try await push(shop, receiver.url("hang-once"))
        let first = try #require(try await receiver.requests(at: "hang-once").first)
        killed.kill()
        await killed.wait()
        let (keys, host) = (shop.queue.keys, "127.0.0.1:\(receiver.port)")
        #expect(try await shop.queue.callbacks(of: .job(id)).first?.state == .sending)
        // As if the sender's term were over.
        _ = try await shop.client.send(["ZADD", .text(keys.callbacks(host)), "1", .text(first.id)])
        _ = try await shop.client.send(["ZADD", .text(keys.callbacks), "1", .text(host)])
        let worker = try await shop.worker(Self.secrets)
        let both = try await receiver.requests(at: "hang-once", count: 2)
        #expect(both.map(\.id) == [first.id, first.id] && both[0].body == both[1].body)
        let record = try await callback(of: id, shop, reaches: .delivered)
        #expect(record.attempt == 2 && record.log[0].message.contains("the worker was lost before"))

        let other = try await push(shop, receiver.url("hang-once?b"))
        _ = try await receiver.requests(at: "hang-once?b")
        let senders = try await worker.children(" posts$")
        #expect(senders.count == 1)
        for sender in senders { kill(sender, SIGKILL) }
        // It is sent again by itself as well, after seconds.
        try await eventually("the attempt has ended") {
            try await shop.queue.callbacks(of: .job(other)).first?.log.first?.message.contains("crashed") == true
        }
        let waiting = try #require(try await shop.queue.callbacks(of: .job(other)).first)
        #expect(try await shop.queue.redeliver([waiting.id]) == [.due])
        _ = try await callback(of: other, shop, reaches: .delivered)
    }

    @Test func `a group's callback is sent once`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let source = try shop.source("a.wav", Sounds.ramp(samples: 441))
        for _ in 1...3 { _ = try await shop.push(["source": source, "format": "flac", "group": "g"]) }
        let seal = try await ChildProcess.run(
            Programs.path("respool"), ["seal", "g", "--callback", receiver.url("ok")], environment: shop.environment)
        #expect(seal.exitCode == 0, "\(seal.errors)")
        let worker = try await shop.worker(Self.secrets)
        let request = try #require(try await receiver.requests(at: "ok").first)
        #expect(request.isGenuine && request.body.contains(#""type":"group.finished""#))
        #expect(request.body.contains(#""completed":3"#) && request.body.contains(#""group":"g""#))
        worker.kill(SIGTERM)
        await worker.wait()
        #expect(receiver.requests.count == 1)
    }

    @Test func `a worker without a secret sends no callback and reports so`() async throws {
        let (shop, receiver) = (try await Workshop(), try await CallbackReceiver())
        let worker = try await shop.worker()
        try await worker.logs("RESPOOL_CALLBACK_SECRET is not set")
        let id = try await push(shop, receiver.url("ok"))
        try await shop.job(id, reaches: .completed)
        worker.kill(SIGTERM)
        await worker.wait()
        let record = try await callback(of: id, shop, reaches: .waiting)
        #expect(record.attempt == 0 && record.log.isEmpty && receiver.requests.isEmpty)
        // A worker that has one sends it, with all attempts.
        let file = try TemporaryFolder()
        let path = try file.write("secret", (CallbackReceiver.secret + "\n").utf8)
        let other = try await shop.worker(["RESPOOL_CALLBACK_SECRET_FILE": path])
        #expect(try await receiver.requests(at: "ok").first?.isGenuine == true)
        #expect(try await callback(of: id, shop, reaches: .delivered).attempt == 1)
        withExtendedLifetime(other) {}
    }

    @Test func `the example of a receiver accepts a genuine callback and no other`() async throws {
        let (shop, port) = (try await Workshop(), try LoopbackPort.free())
        let program = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../examples/callbacks.py")
        let receiver = try await ChildProcess(
            "python3", [program.path, "\(port)"], environment: ["RESPOOL_CALLBACK_SECRET": CallbackReceiver.secret])
        let url = "http://127.0.0.1:\(port)/"
        var status = ""
        try await eventually("the example listens") {
            let forged = try await ChildProcess.run(
                "curl",
                [
                    "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "{}", "-H", "webhook-id: 1",
                    "-H", "webhook-timestamp: \(Int(Date().timeIntervalSince1970))", "-H", "webhook-signature: v1,AAAA",
                    url,
                ])
            status = forged.output
            return forged.exitCode == 0
        }
        #expect(status == "401")
        let worker = try await shop.worker(Self.secrets)
        let id = try await push(shop, url)
        #expect(try await callback(of: id, shop, reaches: .delivered).log.first?.status == 204)
        #expect(receiver.output == "job.completed \(id)\n")
        withExtendedLifetime(worker) {}
    }

    /// The example of Standard Webhooks' own libraries.
    @Test func `a callback is signed as Standard Webhooks specifies`() throws {
        let secrets = try CallbackSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", origin: "x")
        let headers = secrets.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: Array(#"{"test": 2432232314}"#.utf8), at: 1_614_265_330_999)
        #expect(headers.contains("webhook-timestamp: 1614265330"))
        #expect(headers.contains("webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="))
    }

    @Test(arguments: ["hidden", "whsec_AAAA", "whsec_!", " ", CallbackReceiver.secret + " hidden"])
    func `a malformed secret is refused and not shown`(text: String) throws {
        let failure = #expect(throws: SettingError.self) { try CallbackSecrets(text, origin: "RESPOOL_X") }
        let message = failure?.message ?? ""
        #expect(message.hasPrefix("RESPOOL_X") && message.contains("openssl rand"))
        #expect(!message.contains("hidden") && !message.contains("AAAA") && !message.contains(CallbackReceiver.secret))
    }
}
