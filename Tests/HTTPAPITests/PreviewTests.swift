import FoundationEssentials
import Glibc
import HTTPAPI
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct PreviewTests {
    private static let tokens =
        APIFixture.token("one", "push") + APIFixture.token("two", "push") + APIFixture.token("reader", "read")
        + APIFixture.token("tenant", "push", "group=t1-")

    private struct Folders {
        let uploads: TemporaryFolder
        let outputs: TemporaryFolder
        let previews: PreviewFolder

        /// Everything that is among the previews.
        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: uploads.file("previews")).sorted() }
        }
    }

    private func run(_ body: (APIFixture, Folders) async throws -> Void) async throws {
        let (uploads, outputs) = (try TemporaryFolder(), try TemporaryFolder())
        let previews = try #require(PreviewFolder(uploads: uploads.path, age: .seconds(3600)))
        let folder = try #require(UploadFolder(uploads.path, maxBytes: 1000, age: .seconds(60)))
        try await APIFixture.run(
            tokens: Self.tokens, outputs: OutputFolder(outputs.path), uploads: folder, previews: previews
        ) { try await body($0, Folders(uploads: uploads, outputs: outputs, previews: previews)) }
    }

    private func ask(_ api: APIFixture, _ body: String, token: String = "one") async throws -> APIFixture.Answer {
        try await api.send("POST /v1/previews", body, token: token)
    }

    /// Claims the next job and completes it with one file of 10 bytes at its output.
    private func complete(_ api: APIFixture, format: String = "opus", at place: String? = nil) async throws
        -> ClaimedJob
    {
        let job = try #require(try await api.queue.claim(count: 1, worker: "host:1:abc").jobs.first)
        let path = place ?? job.fields["output"].map { String($0.dropFirst("file://".count)) } ?? ""
        #expect(FileManager.default.createFile(atPath: path, contents: Data("0123456789".utf8)), "\(path)")
        let report = OutputReport(
            url: path, format: format, codec: format, bytes: 10, duration: 1, sampleRate: 48_000, channels: 2,
            bitRate: 96_000, sha256: "abc0", copied: false, gapless: .init(start: 0, end: 0),
            damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
        _ = try await api.queue.finish(id: job.id, token: job.token, outcome: .completed([report]))
        return job
    }

    @Test func `a preview of a source is an ordinary job, whose file is downloaded, and is not made twice`()
        async throws
    {
        try await run { api, folders in
            let body = #"{"kind": "audio", "source": "https://u:pw@a.example/b?key=secret", "start": 5, "end": "0:10"}"#
            let first = try await ask(api, body)
            let id = try #require(first.text("id"))
            #expect(first.status == 201 && first.text("duplicate") == "false", "\(first)")
            #expect(first.head.contains("\r\nLocation: /v1/jobs/\(id)\r\n") && !first.body.contains("secret"))
            let waiting = try await ask(api, body, token: "two")
            #expect(waiting.status == 200 && waiting.text("id") == id, "\(waiting)")
            let job = try await complete(api)
            #expect(job.id == id)
            let output = try #require(job.fields["output"])
            #expect(output.hasPrefix("file://\(folders.uploads.path)/previews/") && output.hasSuffix(".opus"))
            for (name, value) in [
                "source": "https://u:pw@a.example/b?key=secret", "start": "5", "end": "0:10", "format": "opus",
                "bit_rate": "96k", "priority": "high", "attempts": "1", "group": "previews", "damage": "accept",
                "timeout": "600", "expires": "600",
            ] { #expect(job.fields[name] == value, "\(name)") }
            let again = try await ask(api, body)
            #expect(again.status == 200 && again.text("id") == id && again.text("duplicate") == "true", "\(again)")
            let file = try await api.send("GET /v1/jobs/\(id)/outputs/0", token: "reader")
            #expect(file.status == 200 && file.body == "0123456789", "\(file)")
            let url = try #require(try await api.send("POST /v1/jobs/\(id)/outputs/0/ticket", token: "one").text("url"))
            #expect(try await api.send("GET \(url)").body == "0123456789")
            // Another range, another kind, and another tenant are other previews.
            for (other, token) in [
                (body.replacing("0:10", with: "0:11"), "one"), (body.replacing("audio", with: "peaks"), "one"),
                (body, "tenant"),
            ] {
                let answer = try await ask(api, other, token: token)
                #expect(answer.status == 201 && answer.text("id") != id, "\(answer)")
            }
            unlink(String(output.dropFirst("file://".count)))
            let new = try await ask(api, body)
            #expect(new.status == 201 && new.text("id") != id, "\(new)")
            let jobs = try await api.send("GET /v1/jobs?group=t1-previews", token: "tenant")
            #expect(jobs.text("jobs.0.priority") == "high" && jobs["jobs.1"] == nil, "\(jobs)")
        }
    }

    @Test func `a preview of a job has the job's source, range and credentials, and reveals none`() async throws {
        try await run { api, _ in
            let fields = [
                "source": "https://u:pw@a.example/b?key=secret", "format": "mp3",
                "source_headers": #"{"x-key":"secret"}"#,
                "start": "1:00", "duration": "7200", "track": "all", "outputs": #"[{"format":"mka"}]"#, "group": "t1-a",
            ].filter { $0.key != "format" }
            let id = try await api.queue.enqueue([fields])[0].id
            let other = try await api.queue.enqueue([["source": "https://a", "format": "mp3"]])[0].id
            func body(_ id: String, _ kind: String, _ rest: String = "") -> String {
                #"{"kind": "\#(kind)", "job": "\#(id)", "of": "source"\#(rest)}"#
            }
            let made = try await ask(api, body(id, "audio"), token: "tenant")
            #expect(made.status == 201 && !made.body.contains("secret"), "\(made)")
            let peaks = try await ask(api, body(id, "peaks", #", "points": 300"#), token: "tenant")
            var jobs: [[String: String]] = []
            for answer in [made, peaks] { jobs.append(try await api.queue.fields(answer.text("id") ?? "") ?? [:]) }
            for job in jobs {
                #expect(job["source"] == fields["source"] && job["source_headers"] == fields["source_headers"])
                #expect(job["start"] == "1:00" && job["track"] == nil && job["outputs"] == nil, "\(job)")
                #expect(job["group"] == "t1-previews" && job["dedup"]?.hasPrefix("t1-preview-") == true, "\(job)")
            }
            #expect(jobs[0]["duration"] == "3600" && jobs[1]["duration"] == "7200" && jobs[1]["points"] == "300")
            let shown = try await api.send("GET /v1/jobs/\(made.text("id") ?? "")/fields", token: "tenant")
            #expect(shown.status == 200 && !shown.body.contains("secret") && !shown.body.contains("pw@"), "\(shown)")
            // A job of others does not exist.
            #expect(try await ask(api, body(other, "audio"), token: "tenant").status == 404)
            #expect(try await ask(api, body(id, "audio"), token: "reader").status == 403)
        }
    }

    @Test func `a preview of an output reads a link to its file`() async throws {
        try await run { api, folders in
            let id = try await api.queue.enqueue([["source": "https://a", "format": "mp3"]])[0].id
            func body(_ number: Int = 0) -> String {
                #"{"kind": "spectrogram", "job": "\#(id)", "of": "output", "output": \#(number), "size": "100x50"}"#
            }
            let early = try await ask(api, body())
            #expect(early.status == 409 && early.text("code") == "wrong_state", "\(early)")
            _ = try await complete(api, format: "mp3", at: folders.outputs.file("a b.mp3"))
            #expect(try await ask(api, body(), token: "tenant").status == 404)
            #expect(try await ask(api, body(1)).status == 404)
            let made = try await ask(api, body())
            #expect(made.status == 201, "\(made)")
            let job = try #require(try await api.queue.claim(count: 1, worker: "host:1:abc").jobs.first)
            let source = try #require(job.fields["source"])
            #expect(
                source.hasPrefix("file://\(folders.uploads.path)/previews/") && source.hasSuffix(".mp3"), "\(source)")
            let path = String(source.dropFirst("file://".count))
            #expect(FileManager.default.contents(atPath: path) == Data("0123456789".utf8))
            #expect(job.fields["format"] == "spectrogram" && job.fields["size"] == "100x50")
            // An output that changed, or lies elsewhere, is not read.
            #expect(FileManager.default.createFile(atPath: folders.outputs.file("a b.mp3"), contents: Data("1".utf8)))
            let audio = body().replacing("spectrogram", with: "audio")
            #expect(try await ask(api, audio).status == 410)
            let next = try await api.queue.enqueue([["source": "https://a", "format": "mp3"]])[0].id
            _ = try await complete(api, format: "mp3", at: folders.uploads.file("secret"))
            let elsewhere = try await ask(api, body().replacing(id, with: next))
            #expect(elsewhere.status == 404 && elsewhere.text("code") == "not_stored", "\(elsewhere)")
            let picture = try await api.queue.enqueue([["source": "https://a", "format": "png"]])[0].id
            _ = try await complete(api, format: "png", at: folders.outputs.file("a.png"))
            #expect(try await ask(api, body().replacing(id, with: picture)).text("code") == "no_audio")
        }
    }

    @Test func `an upload is previewed by the token that made it`() async throws {
        try await run { api, folders in
            let upload = try await api.sendRaw("POST /v1/uploads", "0123456789", token: "one")
            let body = #"{"kind": "peaks", "source": "\#(upload.text("source") ?? "")"}"#
            let made = try await ask(api, body)
            #expect(made.status == 201, "\(made)")
            let fields = try await api.queue.fields(made.text("id") ?? "")
            #expect(fields?["source"] == "file://\(folders.uploads.path)/\(upload.text("id") ?? "")")
            #expect(fields?["format"] == "peaks" && fields?["points"] == "1200" && fields?["peaks_format"] == "json")
            let foreign = try await ask(api, body, token: "two")
            #expect(foreign.status == 422 && foreign.text("errors.0.pointer") == "/source", "\(foreign)")
        }
    }

    @Test func `previews are removed after their time, and made again`() async throws {
        try await run { api, folders in
            let body = #"{"kind": "audio", "source": "https://a.example/b"}"#
            let id = try #require(try await ask(api, body).text("id"))
            _ = try await complete(api)
            #expect(try folders.names.count == 2)
            // As if their time were over.
            let shortLived = try #require(PreviewFolder(uploads: folders.uploads.path, age: .milliseconds(1)))
            try await eventually("the files are removed") {
                _ = shortLived.removeExpired()
                return try folders.names.isEmpty
            }
            let gone = try await api.send("GET /v1/jobs/\(id)/outputs/0", token: "one")
            #expect(gone.status == 410, "\(gone)")
            let new = try await ask(api, body)
            #expect(new.status == 201 && new.text("id") != id, "\(new)")
        }
    }

    @Test(arguments: [
        ("[]", ""), ("{}", "/kind"), (#"{"kind": "video", "source": "https://a"}"#, "/kind"),
        (#"{"kind": "audio"}"#, ""), (#"{"kind": "audio", "source": "/etc/passwd"}"#, "/source"),
        (#"{"kind": "audio", "source": "https://a", "end": "x"}"#, "/end"),
        (#"{"kind": "audio", "source": "https://a", "start": 5, "end": 5}"#, "/end"),
        (#"{"kind": "audio", "source": "https://a", "output": 0}"#, "/output"),
        (#"{"kind": "audio", "source": "https://a", "job": "1-1"}"#, "/of"),
        (#"{"kind": "audio", "job": "../x", "of": "source"}"#, "/job"),
        (#"{"kind": "audio", "job": "1-1", "of": "log"}"#, "/of"),
        (#"{"kind": "audio", "job": "1-1", "of": "source", "start": 1}"#, "/start"),
        (#"{"kind": "audio", "job": "1-1", "of": "output", "output": -1}"#, "/output"),
        (#"{"kind": "peaks", "source": "https://a", "points": 99}"#, "/points"),
        (#"{"kind": "spectrogram", "source": "https://a", "size": "4001x1"}"#, "/size"),
    ])
    func `a wrong request names its part`(body: String, pointer: String) async throws {
        try await run { api, folders in
            let answer = try await ask(api, body)
            #expect(answer.status == 422 && answer.text("errors.0.pointer") == pointer, "\(answer)")
            #expect(try folders.names.isEmpty)
        }
    }

    @Test func `a server without a folder says that it makes no previews`() async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("POST /v1/previews", #"{"kind": "audio", "source": "https://a"}"#)
            #expect(answer.status == 404 && answer.text("code") == "previews_off", "\(answer)")
            #expect(try await api.send("GET /v1/access").text("previews") == "false")
        }
        try await run { api, _ in
            let access = try await api.send("GET /v1/access", token: "one")
            #expect(access.text("previews") == "true", "\(access)")
        }
    }
}
