import HTTPAPI
import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ScheduleRouteTests {
    private static let tokens = APIFixture.token("boss", "operate") + APIFixture.token("pusher", "push")
    private static let fields =
        #""fields": {"source": "https://user:pw@a.example/{date}.wav?key=secret", "format": "mp3", "bit_rate": 128000}"#
    private static let path = "/v1/schedules/news"

    @Test func `a schedule is created, replaced, run, paused, resumed and deleted`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            func send(_ line: String, _ body: String? = nil) async throws -> APIFixture.Answer {
                try await api.send(line, body, token: "boss")
            }
            let made = try await send("PUT \(Self.path)", #"{"cron": "0 6 * * MON-FRI", \#(Self.fields)}"#)
            #expect(made.status == 201 && made.text("time_zone") == "UTC" && made.text("format") == "mp3", "\(made)")
            #expect(
                made.text("source")?.hasPrefix("https://a.example/{date}.wav?") == true && !made.body.contains("secret")
            )
            let again = try await send(
                "PUT \(Self.path)", #"{"cron": "30 * * * *", "time_zone": "Europe/Berlin", \#(Self.fields)}"#)
            #expect(again.status == 200 && again.text("cron") == "30 * * * *", "\(again)")
            let shown = try await send("GET \(Self.path)")
            #expect(shown.status == 200 && shown.body == again.body, "\(shown)")
            let fields = try await send("GET \(Self.path)/fields")
            #expect(fields.text("fields.bit_rate") == "128000" && fields.text("hidden.0") == "source", "\(fields)")
            #expect(!fields.body.contains("secret") && !fields.body.contains("pw@"), "\(fields)")
            let run = try await send("POST \(Self.path)/run")
            let id = try #require(run.text("id"))
            #expect(run.status == 201 && run.head.contains("\r\nLocation: /v1/jobs/\(id)\r\n"), "\(run)")
            #expect(try await api.queue.fields(id)?["source"]?.contains("{date}") == false)
            #expect(try await send("GET \(Self.path)").text("job") == id)
            let paused = try await send("POST \(Self.path)/pause")
            #expect(paused.status == 200 && paused["next_at"]?.field == nil, "\(paused)")
            let resumed = try await send("POST \(Self.path)/resume")
            #expect(resumed.text("next_at") == again.text("next_at"), "\(resumed)")
            let deleted = try await send("DELETE \(Self.path)")
            #expect(deleted.status == 204 && deleted.body.isEmpty, "\(deleted)")
            for line in ["GET \(Self.path)", "DELETE \(Self.path)", "POST \(Self.path)/run", "POST \(Self.path)/pause"]
            {
                #expect(try await send(line).status == 404, "\(line)")
            }
            #expect(try await api.send("GET /v1/jobs/\(id)", token: "boss").status == 200)
        }
    }

    @Test(arguments: [
        (#"{"cron": "61 * * * *", F}"#, "/cron", 422), (#"{"cron": "30 2 30 2 *", F}"#, "/cron", 422),
        (#"{"cron": "@daily", "time_zone": "Mars/Olympus", F}"#, "/time_zone", 422), (#"{F}"#, "/cron", 422),
        (#"{"cron": "@daily"}"#, "/fields", 422), (#"{"cron": "@daily", "every": 5, F}"#, "", 422),
        (#"{"cron": "@daily", "fields": {"source": "https://a", "format": "mp9"}}"#, "/fields/format", 422),
        (#"{"cron": "@daily", "fields": {"source": "upload:x", "format": "mp3"}}"#, "/fields/source", 422),
        (
            #"{"cron": "@daily", "fields": {"source": "https://a", "format": "mp3", "expires": "2030-01-01T00:00:00Z"}}"#,
            "/fields/expires", 422
        ),
    ])
    func `a schedule that is not valid is refused`(body: String, pointer: String, status: Int) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("PUT \(Self.path)", body.replacing("F}", with: Self.fields + "}"))
            #expect(answer.status == status && answer.text("errors.0.pointer") == pointer, "\(answer)")
            #expect(try await api.queue.schedules().isEmpty)
        }
    }

    @Test func `limits are set and removed, one by one`() async throws {
        try await APIFixture.run { api in
            let steps: [(line: String, body: String?, limit: String?, rate: String?)] = [
                ("PUT /v1/limits/a.org", #"{"limit": 2}"#, "2", nil),
                ("PUT /v1/limits/a.org", #"{"rate": 30}"#, "2", "30"),
                ("PUT /v1/limits/a.org", #"{"limit": null}"#, nil, "30"),
                ("PUT /v1/limits", #"{"limit": 5, "rate": 60}"#, "5", "60"),
                ("DELETE /v1/limits/a.org", nil, "5", "60"), ("PUT /v1/limits", #"{"limit": null}"#, nil, "60"),
            ]
            for step in steps {
                let answer = try await api.send(step.line, step.body)
                #expect(answer.status == 200, "\(answer)")
                #expect(answer.text("limit") == step.limit && answer.text("rate") == step.rate, "\(step) \(answer)")
            }
            let wrong = try await api.send("PUT /v1/limits/b", #"{"limit": -1}"#)
            #expect(wrong.text("detail") == "`limit` must be a whole number from 0 to 60000 or null", "\(wrong)")
            let limits = try await api.queue.limits()
            #expect(limits.keys.isEmpty && limits.fallback == nil && limits.fallbackRate == 60)
            for (body, pointer) in [
                ("{}", ""), (#"{"limit": -1}"#, "/limit"), (#"{"rate": 0}"#, "/rate"), (#"{"limit": 60001}"#, "/limit"),
                (#"{"limit": "2"}"#, "/limit"), (#"{"limit": 2.5}"#, "/limit"), (#"{"limit": 1, "x": 1}"#, ""),
                ("[]", ""),
            ] {
                let answer = try await api.send("PUT /v1/limits/b", body)
                #expect(answer.status == 422 && answer.text("errors.0.pointer") == pointer, "\(body) \(answer)")
            }
        }
    }

    @Test(arguments: [
        ("PUT /v1/limits/b", #"{"limit": -1, "rate": "x", "x": 1}"#, ["/limit", "/rate", ""]),
        (
            "PUT \(path)",
            #"{"cron": "61 * * * *", "time_zone": "Mars/Olympus", "fields": {"source": "https://a", "format": "mp9", "channels": 0}}"#,
            ["/cron", "/time_zone", "/fields/channels", "/fields/format"]
        ),
        ("PUT \(path)", #"{"cron": 5, "every": 5}"#, ["/cron", "", "/fields"]),
        (
            "POST /v1/jobs/actions",
            #"{"action": "cancel", "filter": {"nope": "x", "older_than": "x"}, "set": {}, "dry_run": false}"#,
            ["/filter/nope", "/filter/older_than", "/set", ""]
        ),
        ("POST /v1/jobs/actions", #"{"limit": 501, "filter": {}}"#, ["/filter", "/limit", "/action"]),
        ("POST /v1/jobs", #"{"source": "x", "format": "mp9", "gain": "loud"}"#, ["/gain", "/source", "/format"]),
    ])
    func `all wrong parts of a body are named at once`(line: String, body: String, pointers: [String]) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send(line, body)
            let named = (0...pointers.count).map { answer.text("errors.\($0).pointer") }
            #expect(answer.status == 422 && named == pointers + [nil], "\(answer)")
            #expect(answer.text("detail")?.hasSuffix(" (and \(pointers.count - 1) more)") == true)
        }
    }

    @Test func `a callback is sent again`() async throws {
        try await APIFixture.run { api in
            let fields = ["source": "https://a.example/b", "format": "mp3", "callback": "https://a.example/hook"]
            let id = try await api.queue.enqueue([fields])[0].id
            _ = try await api.queue.cancel([id])
            let callback = try #require(try await api.queue.claimCallbacks(count: 1).first)
            let under = try await api.send("POST /v1/callbacks/\(callback.id)/retry")
            #expect(under.status == 200 && under.text("result") == "sending", "\(under)")
            _ = try await api.queue.finishCallback(callback, .refused("gone", status: 410), after: .zero)
            #expect(try await api.send("GET /v1/callbacks").text("callbacks.0.state") == "failed")
            let due = try await api.send("POST /v1/callbacks/\(callback.id)/retry")
            #expect(due.status == 200 && due.text("result") == "due", "\(due)")
            #expect(try await api.queue.claimCallbacks(count: 1).first?.id == callback.id)
            #expect(try await api.send("POST /v1/callbacks/1-1/retry").status == 404)
        }
    }

    @Test func `a token that pushes changes no schedule, limit or callback`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            for (line, body) in [
                ("PUT \(Self.path)", "{}"), ("DELETE \(Self.path)", nil), ("POST \(Self.path)/run", nil),
                ("POST \(Self.path)/resume", nil), ("PUT /v1/limits/a", "{}"), ("PUT /v1/limits", "{}"),
                ("DELETE /v1/limits/a", nil), ("POST /v1/callbacks/1-1/retry", nil),
            ] as [(String, String?)] {
                let answer = try await api.send(line, body, token: "pusher")
                #expect(answer.status == 403 && answer.text("code") == "role_denied", "\(line) \(answer)")
            }
        }
    }
}
