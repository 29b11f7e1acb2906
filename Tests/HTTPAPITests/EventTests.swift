import HTTPAPI
import HTTPServer
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct EventTests {
    @Test func `a listener gets each event of the queue, and the end when the server stops`() async throws {
        try await APIFixture.run { api in
            let curl = try await api.listen("/v1/events")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            let id = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            _ = try await api.send("POST /v1/jobs/\(id)/cancel")
            try await eventually("both events") {
                curl.output.contains(#""state":"waiting"}"#) && curl.output.contains(#""state":"cancelled"}"#)
            }
            #expect(curl.output.hasPrefix("retry: 2000\n"))
            #expect(curl.output.ranges(of: "event: job\n").count == 2, "\(curl.output)")
            #expect(curl.output.contains(#""id":"\#(id)""#) && !curl.output.contains("event: gap"))
            await api.listener.close()
            let outcome = await curl.wait()
            #expect(outcome.succeeded, "\(outcome.errors)")
        }
    }

    @Test func `a listener that comes back gets what it missed, or is told of a gap`() async throws {
        try await APIFixture.run { api in
            let first = try await api.listen("/v1/events")
            try await eventually("the greeting") { first.output.contains("event: hello\n") }
            let id = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            try await eventually("the event") { first.output.contains("event: job\n") }
            first.kill()
            let lines = first.output.split(separator: "\n")
            let event = try #require(lines.firstIndex { $0 == "event: job" })
            let last = String(lines[event - 1].dropFirst("id: ".count))
            _ = try await api.send("POST /v1/jobs/\(id)/cancel")
            let second = try await api.listen("/v1/events", "-H", "Last-Event-ID: \(last)")
            let third = try await api.listen("/v1/events?last_event_id=1-0")
            try await eventually("the missed event") { second.output.contains("cancelled") }
            #expect(second.output.ranges(of: "event: job\n").count == 1, "\(second.output)")
            #expect(!second.output.contains("event: gap"))
            // If this one is cut off before the missed event, it comes with the next.
            #expect(second.output.contains("id: \(last)\nevent: hello\n"), "\(second.output)")
            try await eventually("the gap") { third.output.contains("event: gap\n") }
        }
    }

    @Test func `a listener of one job gets no events of others`() async throws {
        try await APIFixture.run { api in
            let own = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            let other = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            let curl = try await api.listen("/v1/events?job=\(own)")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            for id in [other, own] { _ = try await api.send("POST /v1/jobs/\(id)/cancel") }
            try await eventually("the event") { curl.output.contains("cancelled") }
            #expect(curl.output.contains(own) && !curl.output.contains(other), "\(curl.output)")
        }
    }

    @Test func `a listener of a group gets the events of its jobs and its end alone, also with a token for it`()
        async throws
    {
        let tokens =
            APIFixture.token("boss", "operate") + APIFixture.token("tenant", "read", "group=t1-")
        try await APIFixture.run(tokens: tokens) { api in
            func push(_ group: String?) async throws -> String {
                let member = group.map { #", "group": "\#($0)""# } ?? ""
                let fields = #"{"source": "https://example.org/a.flac", "format": "mp3"\#(member)}"#
                return try #require(try await api.send("POST /v1/jobs", fields, token: "boss").text("id"))
            }
            let foreign = try await api.send("GET /v1/events?group=t2-a", token: "tenant")
            #expect(foreign.status == 403 && foreign.text("code") == "scope_denied", "\(foreign)")
            let curl = try await api.listen(
                "/v1/events?group=t1-a", "-H", "Authorization: Bearer tenant-secret")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            let (own, other, plain) = (try await push("t1-a"), try await push("t2-a"), try await push(nil))
            for job in try await api.queue.claim(count: 3, worker: "host:1:abc").jobs {
                let progress = Progress(phase: .converting, position: 1, duration: 2, fraction: 0.5)
                _ = try await api.queue.beat(
                    worker: WorkerRecord(name: "host:1:abc", host: "host", slots: 3, version: "1"),
                    jobs: [Heartbeat(id: job.id, token: job.token, progress: progress)])
                _ = try await api.queue.publish(id: job.id, token: job.token, record: CommitRecord(outputs: []))
                _ = try await api.queue.finish(id: job.id, token: job.token, outcome: .completed([]))
            }
            _ = try await api.queue.seal("t1-a")
            try await eventually("the end") { curl.output.contains("group_ended") }
            #expect(!curl.output.contains(other) && !curl.output.contains(plain), "\(curl.output)")
            let states = curl.output.matches(of: /"id":"([^"]+)","n":\d+,"state":"([a-z]+)"/).filter { $0.1 == own }
            #expect(
                states.map { String($0.2) } == ["waiting", "running", "running", "running", "completed"],
                "\(curl.output)")
        }
    }

    @Test func `the id of a duplicate follows the first job, and an unknown one is refused`() async throws {
        try await APIFixture.run { api in
            // Of a job that is pushed by Redis' own command, the duplicate has an id of its own.
            let fields = ["source": "https://example.org/a.flac", "format": "mp3", "dedup": "key"]
            let (first, second) = (try await api.queue.push(fields), try await api.queue.push(fields))
            try await api.queue.runMaintenance()
            let curl = try await api.listen("/v1/events?job=\(second)")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            _ = try await api.send("POST /v1/jobs/\(first)/cancel")
            try await eventually("the event") { curl.output.contains("cancelled") }
            #expect(try await api.send("GET /v1/events?job=1-0").status == 404)
        }
    }

    @Test func `clients that leave before they are answered are no listeners`() async throws {
        try await APIFixture.run { api in
            let text = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
            // Each connection is closed after a microsecond without a byte.
            _ = try await rawExchange(api.port, Array(repeating: text, count: 50), seconds: 0.000_001)
            // Only what is sent shows that a client has left.
            func left() async throws -> Int {
                try await api.queue.pause()
                try await api.queue.resume()
                return api.hub.listenerCount
            }
            try await eventually("no listener is left") { try await left() == 0 }
            // What this one gets comes after what the others asked for.
            let curl = try await api.listen("/v1/events")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            try await eventually("only one listener is left") { try await left() == 1 }
        }
    }

    @Test func `a queue that lost its data is a gap`() async throws {
        try await APIFixture.run { api in
            _ = try await api.send("POST /v1/jobs", APIFixture.job)
            let curl = try await api.listen("/v1/events")
            try await eventually("the greeting") { curl.output.contains("event: hello\n") }
            try await api.server.restart()
            try await eventually("the gap") { curl.output.contains("event: gap\n") }
        }
    }

    @Test func `a token for groups follows only jobs of its groups`() async throws {
        let tokens = APIFixture.token("boss", "operate") + APIFixture.token("tenant", "read", "group=t1-")
        try await APIFixture.run(tokens: tokens) { api in
            let foreign = try #require(try await api.send("POST /v1/jobs", APIFixture.job, token: "boss").text("id"))
            let answers = try await api.sendAll(
                ["GET /v1/events", "GET /v1/events?job=\(foreign)"].map { ($0, nil, "tenant", []) })
            #expect(answers.map(\.status) == [403, 404], "\(answers)")
        }
    }
}

extension APIFixture {
    /// Listens with curl until it is killed.
    fileprivate func listen(_ path: String, _ words: String...) async throws -> ChildProcess {
        try await ChildProcess("curl", ["-sSN", "--max-time", "300"] + words + ["http://127.0.0.1:\(port)\(path)"])
    }
}
