import Crypto
import HTTPAPI
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct JobRouteTests {
    @Test(arguments: [
        #"{"source": "https://a.example/b", "format": "mp3", "format": "wav"}"#,
        #"{"source": "https://a.example/b", "format": "mp3", "f\u006frmat": "wav"}"#,
        #"{"jobs": [{"source": "https://a.example/b", "format": "mp3", "metadata": {"a": "1", "b": "\"", "a": "2"}}]}"#,
    ])
    func `an object that repeats a name is refused`(body: String) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("POST /v1/jobs", body)
            #expect(answer.status == 400 && answer.text("code") == "malformed_json", "\(answer)")
            // The same name in another object is another one.
            let job = #"{"source": "https://a.example/b", "format": "mp3", "metadata": "{\"title\": \"a\"}"}"#
            #expect(try await api.send("POST /v1/jobs", #"{"jobs": [\#(job), \#(job)]}"#).status / 100 == 2)
        }
    }

    @Test func `a body in UTF-16 is refused`() async throws {
        try await APIFixture.run { api in
            let bytes = APIFixture.job.utf16.flatMap { unit -> [UInt8] in [UInt8(truncatingIfNeeded: unit), 0] }
            let body = String(decoding: bytes, as: UTF8.self)
            let answer = try await api.send("POST /v1/jobs", body)
            #expect(answer.status == 400 && answer.text("code") == "malformed_json", "\(answer)")
        }
    }

    @Test func `a job is pushed, read, cancelled, retried with other fields and deleted`() async throws {
        try await APIFixture.run { api in
            let pushed = try await api.send("POST /v1/jobs", APIFixture.job)
            #expect(pushed.status == 201, "\(pushed)")
            let id = try #require(pushed.text("id"))
            #expect(pushed.head.contains("\r\nLocation: /v1/jobs/\(id)"))
            let job = try await api.send("GET /v1/jobs/\(id)")
            #expect(job.text("state") == "waiting" && job.text("format") == "mp3", "\(job)")
            #expect(try await api.send("GET /v1/jobs/\(id)/log").body == #"{"lines":[]}"#)
            #expect(try await api.send("POST /v1/jobs/\(id)/cancel").text("result") == "cancelled")
            let late = try await api.send("POST /v1/jobs/\(id)/cancel")
            #expect(late.status == 409 && late.text("code") == "too_late", "\(late)")
            let wrong = try await api.send("POST /v1/jobs/\(id)/retry", #"{"set": {"group": "g", "nope": 1}}"#)
            #expect(wrong.status == 422 && wrong.text("errors.0.pointer") == "/set/group", "\(wrong)")
            #expect(wrong.text("errors.1.pointer") == "/set/nope")
            let retried = try await api.send("POST /v1/jobs/\(id)/retry", #"{"set": {"format": "wav"}}"#)
            #expect(retried.text("result") == "retried", "\(retried)")
            #expect(try await api.send("GET /v1/jobs/\(id)").text("format") == "wav")
            #expect(try await api.send("DELETE /v1/jobs/\(id)").text("result") == "deleted")
            #expect(try await api.send("GET /v1/jobs/\(id)").status == 404)
        }
    }

    @Test func `the trace of a request is that of its jobs, unless they have their own`() async throws {
        try await APIFixture.run { api in
            let (sent, own) = (
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-00"
            )
            let body = APIFixture.job.dropLast() + #", "traceparent": "\#(own)"}"#
            for (job, header, parent) in [
                (APIFixture.job, sent, sent), (String(body), sent, own),
                (APIFixture.job, "ff-" + sent.dropFirst(3), nil),
            ] {
                let pushed = try await api.send("POST /v1/jobs", job, headers: ["traceparent: \(header)"])
                let id = try #require(pushed.text("id"), "\(pushed)")
                #expect(try await api.send("GET /v1/jobs/\(id)").text("traceparent") == parent)
            }
        }
    }

    @Test func `a running job is not deleted`() async throws {
        try await APIFixture.run { api in
            let id = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            _ = try await api.queue.claim(count: 1, worker: "host:1:abc")
            let refused = try await api.send("DELETE /v1/jobs/\(id)")
            #expect(refused.status == 409 && refused.text("code") == "wrong_state", "\(refused)")
            #expect(try await api.send("GET /v1/jobs/\(id)").text("state") == "running")
        }
    }

    @Test func `jobs are pushed together, or none if one is not valid`() async throws {
        try await APIFixture.run { api in
            let bad =
                #"{"jobs": [\#(APIFixture.job), {"source": "https://a.example/b", "format": "mp3", "bit_rate": "999k"}, {"x": []}]}"#
            let refused = try await api.send("POST /v1/jobs", bad)
            #expect(refused.status == 422, "\(refused)")
            #expect(refused.head.contains("Content-Type: application/problem+json"))
            #expect(refused.text("errors.0.pointer") == "/jobs/1/bit_rate", "\(refused)")
            #expect(refused.text("errors.1.pointer") == "/jobs/2/x", "\(refused)")
            #expect(try await api.send("GET /v1/queues/default").text("counts.waiting") == "0")
            let pushed = try await api.send("POST /v1/jobs", #"{"jobs": [\#(APIFixture.job), \#(APIFixture.job)]}"#)
            #expect(pushed.status == 200 && pushed.text("jobs.1.duplicate") == "false", "\(pushed)")
            #expect(try await api.send("GET /v1/queues/default").text("live") == "2")
        }
    }

    @Test func `all wrong fields of a job are named at once, and kept with a job that was pushed past the server`()
        async throws
    {
        try await APIFixture.run { api in
            let body =
                #"{"source": "https://a.example/b", "format": "mp3", "channels": 0, "gain": "loud", "dedup": ""}"#
            let answer = try await api.send("POST /v1/jobs", body)
            let pointers = (0..<4).map { answer.text("errors.\($0).pointer") }
            #expect(answer.status == 422 && pointers == ["/channels", "/gain", "/dedup", nil], "\(answer)")
            #expect(answer.text("detail")?.hasSuffix(" (and 2 more)") == true)
            let id = try await api.queue.enqueue([["source": "https://a.example/b", "format": "mp3"]])[0].id
            let job = try #require(try await api.queue.claim(count: 1, worker: "h:1:x").jobs.first)
            let failure = #expect(throws: Failure.self) {
                try JobSpec(fields: ["source": "https://a.example/b", "format": "mp3", "channels": "0", "gain": "loud"])
            }
            _ = try await api.queue.finish(id: id, token: job.token, outcome: .failed(try #require(failure)))
            let shown = try await api.send("GET /v1/jobs/\(id)")
            #expect(shown.text("error.fields.1.field") == "gain", "\(shown)")
        }
    }

    /// Each takes six bytes in JSON.
    @Test func `a wrong value of control characters is refused`() async throws {
        try await APIFixture.run { api in
            let text = String(repeating: #"\u0001"#, count: 3000)
            let body =
                #"{"source": "https://a.example/b", "format": "mp3", "codec": "\#(text)", "channel_layout": "\#(text)"}"#
            let answer = try await api.send("POST /v1/jobs", body)
            #expect(answer.status == 422 && answer.text("errors.0.pointer") == "/codec", "\(answer.status)")
            #expect(try await api.send("GET /v1/queues/default").status == 200)
        }
    }

    @Test func `a list with jobs of a sealed group pushes none`() async throws {
        try await APIFixture.run { api in
            let member = #"{"source": "https://a.example/b", "format": "mp3", "group": "g"}"#
            _ = try await api.send("POST /v1/jobs", member)
            #expect(try await api.queue.seal("g") == .sealed)
            let single = try await api.send("POST /v1/jobs", member)
            #expect(single.status == 422 && single.text("errors.0.pointer") == "", "\(single)")
            var jobs = Array(repeating: APIFixture.job, count: 300)
            jobs[200] = member
            let refused = try await api.send("POST /v1/jobs", #"{"jobs": [\#(jobs.joined(separator: ", "))]}"#)
            #expect(refused.status == 422 && refused.text("errors.0.pointer") == "/jobs/200", "\(refused)")
            #expect(try await api.send("GET /v1/queues/default").text("counts.waiting") == "1")
        }
    }

    @Test func `a list is pushed again under its key although its group was sealed since`() async throws {
        try await APIFixture.run { api in
            let jobs = Array(repeating: ["source": "s3://bucket/b", "format": "mp3", "group": "g"], count: 300)
            let nonce = "0123456789abcdef"
            let first = try await api.queue.enqueue(jobs, nonce: nonce)
            #expect(try await api.queue.seal("g") == .sealed)
            #expect(try await api.queue.enqueue(jobs, nonce: nonce) == first)
        }
    }

    @Test func `a body of very many values is refused before it is decoded`() async throws {
        try await APIFixture.run { api in
            let empty = #"{"jobs": [\#(Array(repeating: "{}", count: 60_000).joined(separator: ","))]}"#
            let refused = try await api.send("POST /v1/jobs", empty)
            #expect(refused.status == 413 && refused.text("code") == "too_large", "\(refused)")
            // What is inside of a text is no value.
            let commas =
                #"{"source": "https://a.example/\"\#(String(repeating: ",", count: 120_000))", "format": "mp3"}"#
            #expect(try await api.send("POST /v1/jobs", commas).status == 422)
        }
    }

    @Test func `a full memory of Redis is told as such`() async throws {
        try await APIFixture.run(keepsHouse: false) { api in
            let client = api.server.client()
            _ = try await client.send(["CONFIG", "SET", "maxmemory", "1"])
            let refused = try await api.send("POST /v1/jobs", APIFixture.job)
            #expect(refused.status == 503 && refused.text("code") == "redis_full", "\(refused)")
            #expect(refused.head.contains("\r\nRetry-After: 60"))
            _ = try await client.send(["CONFIG", "SET", "maxmemory", "0"])
            await client.close()
        }
    }

    @Test(arguments: [
        ("[]", 422, ""), ("{}", 422, "/source"), ("{", 400, ""), (#"{"jobs": []}"#, 422, "/jobs"),
        (#"{"source": "https://a.example/b", "format": "mp3", "dedup": ["x"]}"#, 422, "/dedup"),
        (
            #"{"source": "https://a.example/b", "format": "mp3", "outputs": [{}, {"format": "nope"}]}"#, 422,
            "/outputs/1/format"
        ),
        (String(repeating: "[", count: 5000), 400, ""), (#""\ud800""#, 400, ""),
    ])
    func `a malformed body is refused with the place of the fault`(
        body: String, status: Int, pointer: String
    ) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("POST /v1/jobs", body)
            #expect(answer.status == status, "\(answer)")
            if status == 422 { #expect(answer.text("errors.0.pointer") == pointer, "\(answer)") }
        }
    }

    @Test func `a repeated request with the same key pushes once`() async throws {
        try await APIFixture.run { api in
            let key = [#"Idempotency-Key: "8e03978e-40d5""#]
            let first = try await api.send("POST /v1/jobs", APIFixture.job, headers: key)
            let second = try await api.send("POST /v1/jobs", APIFixture.job, headers: key)
            #expect(first.status == 201 && second.status == 201)
            #expect(first.body == second.body && second.head.contains("\r\nLocation: /v1/jobs/"), "\(second)")
            let other = try await api.send(
                "POST /v1/jobs", #"{"source": "s3://bucket/b", "format": "mp3"}"#, headers: key)
            #expect(other.status == 422 && other.text("code") == "key_reused", "\(other)")
            #expect(try await api.send("GET /v1/queues/default").text("counts.waiting") == "1")
            // A refused request leaves the key free.
            let fresh = ["Idempotency-Key: fresh"]
            #expect(try await api.send("POST /v1/jobs", "{}", headers: fresh).status == 422)
            #expect(try await api.send("POST /v1/jobs", APIFixture.job, headers: fresh).status == 201)
        }
    }

    @Test func `the location of a job in another queue names the queue`() async throws {
        try await APIFixture.run { api in
            for _ in 0..<2 {
                let pushed = try await api.send(
                    "POST /v1/jobs?queue=other", APIFixture.job, headers: ["Idempotency-Key: one"])
                let id = try #require(pushed.text("id"))
                #expect(pushed.head.contains("\r\nLocation: /v1/jobs/\(id)?queue=other\r\n"), "\(pushed)")
                #expect(try await api.send("GET /v1/jobs/\(id)?queue=other").status == 200)
            }
            let document = try await api.send("GET /v1/openapi.json")
            let link = "paths./v1/jobs.post.responses.201.links.job.parameters.queue"
            #expect(document.text(link) == "$request.query.queue")
        }
    }

    @Test func `another body under the key of a lost response is a job of its own`() async throws {
        try await APIFixture.run { api in
            let key = ["Idempotency-Key: one"]
            let first = try await api.send("POST /v1/jobs", APIFixture.job, headers: key)
            // As if the server had stopped before it stored the response.
            let client = api.server.client()
            let stored = try await client.send(["KEYS", .text(api.queue.keys.reply("*"))]).array ?? []
            #expect(stored.count == 1)
            for name in stored.compactMap(\.string) { _ = try await client.send(["DEL", .text(name)]) }
            let again = try await api.send("POST /v1/jobs", APIFixture.job, headers: key)
            #expect(again.status == 201 && again.text("id") == first.text("id"), "\(again)")
            for name in stored.compactMap(\.string) { _ = try await client.send(["DEL", .text(name)]) }
            let other = try await api.send(
                "POST /v1/jobs", #"{"source": "s3://bucket/b", "format": "mp3"}"#, headers: key)
            #expect(other.status == 201 && other.text("id") != first.text("id"), "\(other)")
            #expect(try await api.send("GET /v1/queues/default").text("counts.waiting") == "2")
            await client.close()
        }
    }

    @Test func `a request waits for the one before it with its key`() async throws {
        try await APIFixture.run { api in
            let name = Digest.of(Array("local\nbusy".utf8))
            let earlier = JobQueue.ReplyKey(name, fingerprint: Digest.of(Array(APIFixture.job.utf8)))
            #expect(try await api.queue.reserveReply(earlier) == .reserved)
            let waiting = try await api.send("POST /v1/jobs", APIFixture.job, headers: ["Idempotency-Key: busy"])
            #expect(waiting.status == 409 && waiting.head.contains("\r\nRetry-After: 1"), "\(waiting)")
            try await api.queue.releaseReply(earlier)
            let pushed = try await api.send("POST /v1/jobs", APIFixture.job, headers: ["Idempotency-Key: busy"])
            #expect(pushed.status == 201, "\(pushed)")
        }
    }

    @Test func `a list is filtered, and continues where its page ended`() async throws {
        try await APIFixture.run { api in
            _ = try await api.queue.enqueue(
                (0..<30).map { number in
                    [
                        "source": "https://example.org/\(number).flac?secret", "format": "mp3",
                        "group": number < 10 ? "a" : "b", "limit_key": "k\(number % 3)",
                    ]
                })
            var (ids, cursor, pages) = (Set<String>(), "", 0)
            repeat {
                let page = try await api.send("GET /v1/jobs?limit=7&group=b\(cursor)")
                #expect(page.status == 200, "\(page)")
                guard case .array(let jobs)? = page["jobs"] else { break }
                for job in jobs { if case .object(let job) = job { ids.insert(job["id"]?.field ?? "") } }
                cursor = page.text("next").map { "&cursor=\($0)" } ?? ""
                pages += 1
            } while !cursor.isEmpty && pages < 10
            #expect(ids.count == 20 && pages >= 3)
            func count(_ query: String) async throws -> Int {
                let page = try await api.send("GET /v1/jobs?\(query)")
                guard case .array(let jobs)? = page["jobs"] else { return -1 }
                return jobs.count
            }
            #expect(try await count("limit_key=k1") == 10)
            #expect(try await count("q=/12.flac") == 1)
            #expect(try await count("q=secret") == 0)
            #expect(try await count("source=https://example.org/2") == 11)
            #expect(try await count("state=failed") == 0)
            #expect(try await count("older_than=1000") == 0)
            #expect(try await count("state=waiting&group=a&limit_key=k0") == 4)
            let page = try await api.send("GET /v1/jobs?limit=2")
            let next = try #require(page.text("next"))
            let place = next.prefix { $0 != "." }
            let crafted = ["queued~0~x", "queued~0~18446744073709551615-18446744073709551615"]
            for answer in try await api.sendAll(
                crafted.map { ("GET /v1/jobs?limit=2&cursor=\(place).\($0)", nil, nil, []) })
            { #expect(answer.status == 409 && answer.text("code") == "invalid_cursor", "\(answer)") }
            let wrong = try await api.send("GET /v1/jobs?limit=2&state=failed&cursor=\(next)")
            #expect(wrong.status == 409 && wrong.text("code") == "invalid_cursor", "\(wrong)")
            let link = try #require(page.head.split(separator: "\r\n").first { $0.hasPrefix("Link: ") })
            #expect(link.hasSuffix(">; rel=\"next\""), "\(link)")
            let second = try await api.send("GET \(link.dropFirst("Link: <".count).prefix { $0 != ">" })")
            #expect(second.status == 200 && second.text("jobs.0.id") != page.text("jobs.0.id"), "\(second)")
            let group = try await api.send("GET /v1/groups/a")
            #expect(group.text("total") == "10", "\(group)")
        }
    }

    @Test func `a delayed job becomes ready without a worker`() async throws {
        try await APIFixture.run { api in
            let delayed = #"{"source": "https://a.example/b", "format": "mp3", "delay": 1}"#
            let id = try #require(try await api.send("POST /v1/jobs", delayed).text("id"))
            try await eventually("the job was promoted") {
                try await api.send("GET /v1/jobs/\(id)").text("state") == "waiting"
            }
        }
    }

    @Test func `a schedule is pushed without a worker`() async throws {
        try await APIFixture.run { api in
            let fields = ["source": "https://a.example/b", "format": "mp3"]
            let yearly = try Recurrence("0 0 1 1 *", zone: "UTC")
            #expect(try await api.queue.putSchedule("yearly", yearly, fields: fields))
            let client = api.server.client()
            _ = try await client.send(["ZADD", .text(api.queue.keys.schedules), "1", "yearly"])
            try await eventually("the job was pushed") {
                try await api.send("GET /v1/queues/default").text("counts.waiting") == "1"
            }
            await client.close()
        }
    }
}
