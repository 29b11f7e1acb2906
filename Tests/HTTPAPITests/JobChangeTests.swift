import HTTPAPI
import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct JobChangeTests {
    @Test func `a waiting job gets another priority, is delayed, and runs at once`() async throws {
        try await APIFixture.run(keepsHouse: false) { api in
            let id = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            let high = try await api.send("PATCH /v1/jobs/\(id)", #"{"priority": "high"}"#)
            #expect(high.status == 200 && high.text("priority") == "high", "\(high)")
            let early = try await api.send("POST /v1/jobs/\(id)/run")
            #expect(early.status == 409 && early.text("code") == "wrong_state", "\(early)")
            let later = #"{"not_before": "2090-01-31T12:00:00Z"}"#
            let delayed = try await api.send("PATCH /v1/jobs/\(id)", later)
            #expect(delayed.text("state") == "delayed" && delayed.text("due_at") == "2090-01-31T12:00:00.000Z")
            #expect(try await api.send("POST /v1/jobs/\(id)/run").text("state") == "waiting")
            #expect(try await api.send("PATCH /v1/jobs/\(id)", later).text("state") == "delayed")
            #expect(try await api.send("PATCH /v1/jobs/\(id)", #"{"not_before": null}"#).text("state") == "waiting")
            _ = try await api.queue.claim(count: 1, worker: "host:1:abc")
            #expect(try await api.send("PATCH /v1/jobs/\(id)", later).status == 409)
            #expect(try await api.send("PATCH /v1/jobs/1-1", later).status == 404)
        }
    }

    @Test(arguments: [
        ("{}", ""), ("[]", ""), (#"{"nope": 1}"#, ""), (#"{"priority": "urgent"}"#, "/priority"),
        (#"{"priority": 1}"#, "/priority"), (#"{"not_before": "soon"}"#, "/not_before"),
        (#"{"not_before": 5}"#, "/not_before"),
    ])
    func `a change that is not valid is refused`(body: String, pointer: String) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("PATCH /v1/jobs/1-1", body)
            #expect(answer.status == 422 && answer.text("errors.0.pointer") == pointer, "\(answer)")
        }
    }

    @Test func `a queue is drained, and a worker is told to be quiet`() async throws {
        let tokens = APIFixture.token("all", "operate") + APIFixture.token("one", "operate", "queue=default")
        try await APIFixture.run(tokens: tokens) { api in
            _ = try await api.send("POST /v1/jobs", APIFixture.job, token: "all")
            let job = try #require(try await api.queue.claim(count: 1, worker: "host:1:abc").jobs.first)
            let busy = try await api.send("POST /v1/queues/default/drain?timeout=0", token: "all")
            #expect(busy.text("paused") == "true" && busy.text("counts.running") == "1", "\(busy)")
            let waiting = Task { try await api.send("POST /v1/queues/default/drain", token: "all") }
            _ = try await api.queue.finish(id: job.id, token: job.token, outcome: .completed([]))
            #expect(try await waiting.value.text("counts.running") == "0")
            #expect(try await api.send("POST /v1/workers/host:1/quiet", token: "all").status == 404)
            let record = WorkerRecord(name: "host:1:abc", host: "host", slots: 1, version: "1")
            _ = try await api.queue.beat(worker: record, jobs: [])
            #expect(try await api.send("POST /v1/workers/host:1/quiet", token: "one").status == 403)
            let quiet = try await api.send("POST /v1/workers/host:1/quiet", token: "all")
            #expect(quiet.text("name") == "host:1:abc", "\(quiet)")
            #expect(try await api.queue.beat(worker: record, jobs: []).order.isQuiet)
            #expect(try await api.send("GET /v1/workers", token: "all").text("workers.0.quiet") == "true")
            #expect(try await api.send("DELETE /v1/workers/host:1:abc/quiet", token: "all").status == 200)
            #expect(try await !api.queue.beat(worker: record, jobs: []).order.isQuiet)
        }
    }

    @Test func `a filter's jobs are counted first, and then changed with the confirmation`() async throws {
        let tokens =
            APIFixture.token("all", "operate") + APIFixture.token("other", "operate")
            + APIFixture.token("tenant", "operate", "group=tenant-") + APIFixture.token("pusher", "push")
        try await APIFixture.run(tokens: tokens, keepsHouse: false) { api in
            let jobs = Array(repeating: ["source": "https://x.org/a", "format": "mp3", "group": "g"], count: 5)
            _ = try await api.queue.enqueue(jobs)
            let filter = #""action": "cancel", "filter": {"state": "waiting", "group": "g"}, "limit": 2"#
            let dry = try await api.send("POST /v1/jobs/actions", "{\(filter), \"dry_run\": true}", token: "all")
            #expect(dry.text("matched") == "5" && dry["sample.4.id"] != nil, "\(dry)")
            #expect(try await api.queue.stats()[.waiting] == 5)
            var confirm = try #require(dry.text("confirm"))
            // Neither another filter, another token, nor another text.
            let other = filter.replacing("waiting", with: "delayed")
            for (body, token) in [(other, "all"), (filter, "other")] {
                let refused = try await api.send(
                    "POST /v1/jobs/actions", "{\(body), \"confirm\": \"\(confirm)\"}", token: token)
                #expect(refused.status == 403 && refused.text("code") == "confirm_denied", "\(refused)")
            }
            #expect(
                try await api.send("POST /v1/jobs/actions", "{\(filter), \"confirm\": \"1.a.\"}", token: "all").status
                    == 403)
            var cancelled = 0
            for _ in 1...3 {
                let done = try await api.send(
                    "POST /v1/jobs/actions", "{\(filter), \"confirm\": \"\(confirm)\"}", token: "all")
                #expect(done.status == 200 && done.text("results.0.result") == "cancelled", "\(done)")
                cancelled += Int(done.text("matched") ?? "") ?? 0
                if let next = done.text("confirm") { confirm = next } else { break }
            }
            #expect(cancelled == 5)
            #expect(try await api.queue.stats()[.cancelled] == 5)
            // With changed fields; and scopes and roles.
            let retry = #""action": "retry", "filter": {"state": "cancelled"}, "set": {"format": "wav"}"#
            #expect(
                try await api.send("POST /v1/jobs/actions", "{\(retry), \"dry_run\": true}", token: "pusher").status
                    == 403)
            #expect(
                try await api.send("POST /v1/jobs/actions", "{\(retry), \"dry_run\": true}", token: "tenant").status
                    == 403)
            let found = try await api.send("POST /v1/jobs/actions", "{\(retry), \"dry_run\": true}", token: "all")
            confirm = try #require(found.text("confirm"))
            let retried = try await api.send(
                "POST /v1/jobs/actions", "{\(retry), \"confirm\": \"\(confirm)\"}", token: "all")
            #expect(retried.text("results.4.result") == "retried", "\(retried)")
            let list = try await api.send("GET /v1/jobs?state=waiting", token: "all")
            #expect(list.text("jobs.4.format") == "wav", "\(list)")
            let delete = #""action": "delete", "filter": {"older_than": 0}"#
            let last = try await api.send("POST /v1/jobs/actions", "{\(delete), \"dry_run\": true}", token: "all")
            confirm = try #require(last.text("confirm"))
            _ = try await api.send("POST /v1/jobs/actions", "{\(delete), \"confirm\": \"\(confirm)\"}", token: "all")
            #expect(try await api.queue.stats().counts.values.allSatisfy { $0 == 0 })
        }
    }

    @Test(arguments: [
        (#"{"action": "cancel", "filter": {"state": "waiting"}}"#, ""),
        (#"{"action": "cancel", "filter": {}, "dry_run": true}"#, "/filter"),
        (#"{"action": "purge", "filter": {"state": "waiting"}, "dry_run": true}"#, "/action"),
        (#"{"action": "cancel", "filter": {"nope": "x"}, "dry_run": true}"#, "/filter/nope"),
        (#"{"action": "cancel", "filter": {"older_than": "x"}, "dry_run": true}"#, "/filter/older_than"),
        (#"{"action": "cancel", "filter": {"state": "waiting"}, "set": {}, "dry_run": true}"#, "/set"),
        (#"{"action": "retry", "filter": {"state": "failed"}, "set": {"group": "x"}, "dry_run": true}"#, "/set/group"),
        (#"{"action": "cancel", "filter": {"state": "waiting"}, "limit": 501, "dry_run": true}"#, "/limit"),
    ])
    func `an action that is not valid is refused`(body: String, pointer: String) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("POST /v1/jobs/actions", body)
            #expect(answer.status == 422 && answer.text("errors.0.pointer") == pointer, "\(answer)")
        }
    }
}
