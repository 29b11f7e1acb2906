import HTTPAPI
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// What `/metrics` of the HTTP API shows.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct ServerMetricsTests {
    /// The lines after the headers.
    private func scrape(_ api: APIFixture, token: String? = nil) async throws -> Set<String> {
        let answer = try await api.send("GET /metrics", token: token)
        #expect(answer.status == 200, "\(answer)")
        #expect(answer.head.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8"))
        return Set(answer.body.split(separator: "\n").map(String.init))
    }

    /// Scrapes until the figures are those of the queue; they are up to a second old.
    private func scrape(_ api: APIFixture, until line: String) async throws -> Set<String> {
        var lines: Set<String> = []
        try await eventually(line) {
            lines = try await scrape(api)
            return lines.contains(line)
        }
        return lines
    }

    @Test func `the state of each queue is shown`() async throws {
        // The worker is not a real one, and its lease may end.
        try await APIFixture.run(keepsHouse: false) { api in
            let q = #"queue="default""#
            for priority in ["high", "low"] {
                let pushed = try await api.send(
                    "POST /v1/jobs",
                    #"{"source": "https://example.org/a.flac", "format": "mp3", "priority": "\#(priority)"}"#)
                #expect(pushed.status == 201)
            }
            let claim = try await api.queue.claim(count: 1, worker: "host:1:abc")
            #expect(claim.jobs.count == 1)
            let gone = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            _ = try await api.send("POST /v1/jobs/\(gone)/cancel")
            _ = try await api.send("POST /v1/queues/default/pause")
            let lines = try await scrape(api, until: "respool_queue_paused{\(q)} 1")
            for line in [
                "respool_queue_up{\(q)} 1", #"respool_queue_up{queue="other"} 1"#,
                #"respool_queue_jobs{\#(q),state="waiting"} 1"#, #"respool_queue_jobs{\#(q),state="running"} 1"#,
                #"respool_queue_jobs{\#(q),state="cancelled"} 1"#,
                #"respool_queue_jobs{queue="other",state="waiting"} 0"#,
                "respool_queue_live_jobs{\(q)} 2", "respool_queue_parked_jobs{\(q)} 0",
                "respool_queue_schedules{\(q)} 0",
                "respool_queue_callbacks{\(q)} 0", "respool_queue_workers{\(q)} 0", "respool_queue_slots{\(q)} 0",
                "respool_queue_pushed_total{\(q)} 3", #"respool_queue_ended_total{\#(q),state="cancelled"} 1"#,
                #"respool_queue_ended_total{\#(q),state="failed"} 0"#, "respool_event_listeners{\(q)} 0",
                #"respool_http_requests_total{method="POST",route="/v1/jobs",status="2xx"} 3"#,
                #"respool_http_requests_total{method="POST",route="/v1/jobs/{id}/cancel",status="2xx"} 1"#,
                #"respool_http_request_seconds_count{method="POST",route="/v1/jobs"} 3"#,
            ] {
                #expect(lines.contains(line), "\(line) in \(lines.sorted())")
            }
            let age = lines.first { $0.hasPrefix("respool_queue_oldest_waiting_seconds{\(q)} ") }
            #expect(age?.split(separator: " ").last.flatMap { Double($0) } ?? 0 > 0, "\(age ?? "")")
            for name in ["process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total"] {
                #expect(lines.contains { $0.hasPrefix("\(name) ") }, "\(name)")
            }
            // The counts go on.
            _ = try await api.send("POST /v1/jobs", APIFixture.job)
            _ = try await scrape(api, until: "respool_queue_pushed_total{\(q)} 4")
        }
    }

    @Test func `the counters of a new server begin at 0, whatever the hour has`() async throws {
        try await APIFixture.run(keepsHouse: false) { api in
            _ = try await api.send("POST /v1/jobs", APIFixture.job)
            let metrics = ServerMetrics(queues: [api.queue], hubs: [])
            await metrics.start()
            let line = #"respool_queue_pushed_total{queue="default"} "#
            #expect(await metrics.text(queue: nil).contains(line + "0\n"))
            _ = try await api.send("POST /v1/jobs", APIFixture.job)
            try await eventually("the next job is counted") {
                await metrics.text(queue: nil).contains(line + "1\n")
            }
        }
    }

    @Test func `requests are counted by route, whatever the path`() async throws {
        try await APIFixture.run { api in
            for path in ["/nowhere/1", "/nowhere/2", "/v1/jobs/none-1", "/v1/jobs/none-2"] {
                #expect(try await api.send("GET \(path)").status == 404)
            }
            _ = try await api.send("BREW /v1/queues")
            _ = try await api.send("HEAD /healthz")
            let lines = try await scrape(api)
            for line in [
                #"respool_http_requests_total{method="other",route="other",status="4xx"} 2"#,
                #"respool_http_requests_total{method="GET",route="/v1/jobs/{id}",status="4xx"} 2"#,
                #"respool_http_requests_total{method="other",route="/v1/queues",status="4xx"} 1"#,
                #"respool_http_requests_total{method="GET",route="/healthz",status="2xx"} 1"#,
            ] {
                #expect(lines.contains(line), "\(line) in \(lines.sorted())")
            }
        }
    }

    @Test func `a scrape reads Redis at most once a second`() async throws {
        try await APIFixture.run(keepsHouse: false) { api in
            _ = try await scrape(api)
            let client = api.server.client()
            let before = try await commands(client)
            let start = ContinuousClock.now
            _ = try await api.sendAll(Array(repeating: ("GET /metrics", nil, nil, []), count: 20))
            let seconds = Int((.now - start) / .seconds(1)) + 1
            let after = try await commands(client)
            await client.close()
            // A script for each of two queues.
            #expect(after - before <= 2 * seconds, "\(after - before) in \(seconds) s")
        }
    }

    /// How often the statistics were read.
    private func commands(_ client: RedisClient) async throws -> Int {
        let text = try await client.send(["INFO", "commandstats"]).string ?? ""
        let lines = text.split(separator: "\r\n").filter {
            $0.hasPrefix("cmdstat_evalsha:") || $0.hasPrefix("cmdstat_eval:")
        }
        return lines.compactMap { $0.firstMatch(of: /calls=(\d+)/).flatMap { Int($0.1) } }.reduce(0, +)
    }

    @Test func `without Redis, the other metrics are still shown`() async throws {
        try await APIFixture.run(keepsHouse: false) { api in
            await api.server.kill()
            // The figures of the other queue may be older.
            var lines: Set<String> = []
            try await eventually("no queue is up") {
                lines = try await scrape(api)
                return !lines.contains { $0.hasPrefix("respool_queue_up") && $0.hasSuffix(" 1") }
            }
            #expect(lines.contains(#"respool_queue_up{queue="default"} 0"#))
            #expect(!lines.contains { $0.hasPrefix("respool_queue_jobs") }, "\(lines.sorted())")
            #expect(lines.contains { $0.hasPrefix("process_open_fds ") })
            try await api.server.restart()
        }
    }

    @Test func `a token takes the role read, and has the metrics of its queue`() async throws {
        let tokens =
            APIFixture.token("all", "read") + APIFixture.token("one", "push", "queue=other")
            + APIFixture.token("tenant", "operate", "group=t-")
        try await APIFixture.run(tokens: tokens) { api in
            #expect(try await api.send("GET /metrics").status == 401)
            #expect(try await api.send("GET /metrics", token: "tenant").status == 403)
            let all = try await scrape(api, token: "all")
            #expect(all.contains(#"respool_queue_up{queue="default"} 1"#))
            let one = try await scrape(api, token: "one")
            #expect(one.contains(#"respool_queue_up{queue="other"} 1"#))
            #expect(!one.contains { $0.contains(#"queue="default""#) })
        }
    }
}
