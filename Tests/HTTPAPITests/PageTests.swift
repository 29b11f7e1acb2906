import FoundationEssentials
import HTTPAPI
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct PageTests {
    @Test func `the page needs no token, has its own policy, and is not sent twice`() async throws {
        try await APIFixture.run(tokens: APIFixture.token("viewer", "read")) { api in
            let page = try await api.send("GET /")
            #expect(page.status == 200)
            #expect(page.body.contains("page/app.js"))
            #expect(page.head.contains("script-src 'self'; style-src 'self'"))
            #expect(page.head.contains("require-trusted-types-for 'script'"))
            #expect(!page.head.contains("Cache-Control: no-store"))
            let tag = try #require(page.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            let again = try await api.send("GET /", headers: ["If-None-Match: \(tag)"])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/CPage/web").path
            for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file != "index.html" {
                let answer = try await api.send("GET /page/\(file)")
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .isoLatin1)
                #expect(answer.body == text, "\(file)")
                let type = ["css": "text/css", "svg": "image/svg+xml"]["\(file.split(separator: ".").last!)"]
                #expect(answer.head.contains("Content-Type: \(type ?? "text/javascript")"), "\(file)")
            }
            #expect(try await api.send("GET /page/none.js").status == 401)
            let answer = try await api.send("DELETE /")
            #expect(answer.status == 405)
            #expect(answer.head.contains("Allow: GET, HEAD"))
            // Data keep the policy that allows nothing.
            #expect(try await api.send("GET /v1/access", token: "viewer").head.contains("default-src 'none'; frame"))
        }
    }

    @Test func `a link on another site opens the page and reads no data`() async throws {
        try await APIFixture.run { api in
            let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"]
            let page = try await api.send("GET /", headers: link)
            #expect(page.status == 200)
            #expect(try await api.send("GET /v1/jobs", headers: link).status == 403)
            #expect(try await api.send("GET /", headers: ["Sec-Fetch-Site: cross-site"]).status == 403)
            #expect(try await api.send("GET /", headers: ["Host: evil.example"]).status == 403)
            let output = "/v1/jobs/1-0/outputs/0?ticket=x"
            #expect(try await api.send("GET \(output)", headers: link).text("code") != "origin_denied")
            #expect(try await api.send("POST \(output)", headers: link).text("code") == "origin_denied")
        }
    }

    @Test func `a report of a violation is taken without a token, up to a size`() async throws {
        try await APIFixture.run(tokens: APIFixture.token("viewer", "read")) { api in
            let report = try await api.send("POST /csp", "{}")
            #expect(report.status == 204)
            #expect(try await api.send("POST /csp", String(repeating: "x", count: 20_000)).status == 413)
        }
    }

    @Test func `access reports the role, the queues and the group of a token`() async throws {
        let tokens = APIFixture.token("boss", "operate") + APIFixture.token("tenant", "push", "queue=other group=t1-")
        try await APIFixture.run(tokens: tokens) { api in
            let boss = try await api.send("GET /v1/access", token: "boss")
            #expect(boss.text("role") == "operate")
            #expect(boss.text("queues.0") == "default")
            #expect(boss.text("queues.1") == "other")
            #expect(boss["group_prefix"] != nil && boss.text("group_prefix") == nil)
            let tenant = try await api.send("GET /v1/access", token: "tenant")
            #expect(tenant.text("role") == "push")
            #expect(tenant.text("queues.0") == "other")
            #expect(tenant["queues.1"] == nil)
            #expect(tenant.text("group_prefix") == "t1-")
            #expect(try await api.send("GET /v1/access").status == 401)
        }
    }

    @Test func `a schedule has its next five times`() async throws {
        try await APIFixture.run { api in
            let fields = ["source": "https://example.org/a", "format": "mp3"]
            _ = try await api.queue.putSchedule("hourly", try Recurrence("30 * * * *", zone: "UTC"), fields: fields)
            let answer = try await api.send("GET /v1/schedules")
            let times = (0..<5).compactMap { answer.text("schedules.0.upcoming.\($0)") }
            #expect(times.count == 5)
            #expect(times.first == answer.text("schedules.0.next_at"))
            #expect(times.allSatisfy { $0.hasSuffix(":30:00.000Z") })
            #expect(Set(times).count == 5)
        }
    }

    @Test func `the fields of a job are shown without secrets`() async throws {
        try await APIFixture.run { api in
            let body = """
                {"source": "https://user:word@example.org/a.flac?key=s3cret", "source_headers": {"cookie": "s3cret"},
                 "metadata": {"title": "T"}, "callback": "https://example.org/c?key=s3cret",
                 "outputs": [{"format": "mp3", "bit_rate": "96k", "output": "https://example.org/o.mp3?key=s3cret"},
                             {"format": "flac"}]}
                """
            let id = try #require(try await api.send("POST /v1/jobs", body).text("id"))
            let answer = try await api.send("GET /v1/jobs/\(id)/fields")
            #expect(answer.status == 200)
            #expect(!answer.body.contains("s3cret") && !answer.body.contains("word"))
            #expect(answer.text("fields.source")?.hasPrefix("https://example.org/a.flac?") == true)
            #expect(answer["fields.source_headers"] == nil)
            #expect(answer.text("fields.outputs")?.contains("96k") == true)
            let hidden = (0..<4).map { answer.text("hidden.\($0)") }
            #expect(hidden == ["callback", "outputs", "source", "source_headers"])
            #expect(try await api.send("GET /v1/jobs/1795646854452-0/fields").status == 404)
            let plain = try #require(try await api.send("POST /v1/jobs", APIFixture.job).text("id"))
            #expect(try await api.send("GET /v1/jobs/\(plain)/fields")["hidden.0"] == nil)
        }
    }

    /// Programs that push to Redis may give a job any fields. It keeps them, also after a worker has refused it.
    @Test func `fields that do not exist are named without their values`() async throws {
        try await APIFixture.run { api in
            let client = api.server.client()
            let command: RedisCommand = [
                "XADD", .text(api.queue.keys.inbox), "*", "source", "https://a.example/b", "format", "mp3",
                "Source_Headers", "s3cret", "$(evil)", "s3cret",
            ]
            let id = try #require(try await client.send(command).string)
            try await eventually("the job is admitted") {
                try await api.send("GET /v1/jobs/\(id)").text("state") == "waiting"
            }
            let answer = try await api.send("GET /v1/jobs/\(id)/fields")
            #expect(!answer.body.contains("s3cret"), "\(answer)")
            #expect(answer["fields.$(evil)"] == nil && answer.text("fields.format") == "mp3")
            #expect(answer.text("hidden.0") == "$(evil)" && answer.text("hidden.1") == "Source_Headers")
            await client.close()
        }
    }
}
