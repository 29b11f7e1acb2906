import FoundationEssentials
import Glibc
import HTTPAPI
import HTTPServer
import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct UploadTests {
    private static let tokens =
        APIFixture.token("one", "push") + APIFixture.token("two", "push") + APIFixture.token("reader", "read")
        + APIFixture.token("admin", "operate")
    private static let tus = "Tus-Resumable: 1.0.0"
    private static let append = "Content-Type: application/offset+octet-stream"

    private func run(
        maxBytes: Int64 = 1000, age: Duration = .seconds(60), in folder: TemporaryFolder,
        _ body: (APIFixture) async throws -> Void
    ) async throws {
        let uploads = try #require(UploadFolder(folder.path, maxBytes: maxBytes, age: age))
        try await APIFixture.run(tokens: Self.tokens, uploads: uploads, body)
    }

    private func create(_ api: APIFixture, _ length: Int) async throws -> String {
        let made = try await api.sendRaw(
            "POST /v1/uploads", token: "one",
            headers: [Self.tus, "Upload-Length: \(length)", "Upload-Metadata: filename dGFsay53YXY=,type YQ=="])
        #expect(made.status == 201 && made.text("filename") == "talk.wav", "\(made)")
        #expect(made.head.contains("\r\nUpload-Expires: ") && made.head.contains("\r\nTus-Resumable: 1.0.0"))
        let id = try #require(made.text("id"))
        #expect(made.head.contains("\r\nLocation: /v1/uploads/\(id)\r\n"))
        return id
    }

    private func patch(
        _ api: APIFixture, _ id: String, _ offset: Int, _ body: String, token: String = "one"
    ) async throws -> APIFixture.Answer {
        try await api.sendRaw(
            "PATCH /v1/uploads/\(id)", body, token: token, headers: [Self.tus, Self.append, "Upload-Offset: \(offset)"])
    }

    @Test func `a file is uploaded in parts, and a job reads it`() async throws {
        let folder = try TemporaryFolder()
        try await run(in: folder) { api in
            let id = try await create(api, 10)
            #expect(try await patch(api, id, 0, "01234").status == 204)
            let job = #"{"source": "upload:\#(id)", "format": "mp3"}"#
            let early = try await api.send("POST /v1/jobs", job, token: "one")
            #expect(early.status == 409 && early.text("code") == "incomplete_upload", "\(early)")
            let wrong = try await patch(api, id, 4, "x")
            #expect(wrong.status == 409 && wrong.head.contains("\r\nUpload-Offset: 5\r\n"), "\(wrong)")
            #expect(try await patch(api, id, 5, "567890").status == 413)
            let head = try await api.sendRaw("HEAD /v1/uploads/\(id)", token: "one", headers: [Self.tus])
            #expect(head.status == 200 && head.head.contains("\r\nUpload-Offset: 5\r\n"), "\(head)")
            #expect(
                head.head.contains("\r\nUpload-Length: 10\r\n") && head.head.contains("\r\nCache-Control: no-store\r\n")
            )
            let last = try await patch(api, id, 5, "56789")
            #expect(last.status == 204 && last.head.contains("\r\nUpload-Offset: 10\r\n"), "\(last)")
            #expect(try await patch(api, id, 10, "x").text("code") == "complete_upload")
            let upload = try await api.send("GET /v1/uploads/\(id)", token: "one")
            #expect(upload.text("complete") == "true" && upload.text("source") == "upload:\(id)", "\(upload)")
            // Other tokens have no such upload.
            for line in ["GET", "DELETE"] {
                #expect(try await api.send("\(line) /v1/uploads/\(id)", token: "two").status == 404)
            }
            #expect(try await patch(api, id, 10, "", token: "two").status == 404)
            let foreign = try await api.send("POST /v1/jobs", #"{"jobs": [\#(job)]}"#, token: "two")
            #expect(foreign.status == 422 && foreign.text("errors.0.pointer") == "/jobs/0/source", "\(foreign)")
            #expect(try await api.send("GET /v1/uploads/\(id)", token: "reader").status == 403)
            let pushed = try await api.send("POST /v1/jobs", job, token: "one")
            #expect(pushed.status == 201, "\(pushed)")
            let claimed = try #require(try await api.queue.claim(count: 1, worker: "host:1:abc").jobs.first)
            let path = try #require(claimed.fields["source"])
            #expect(path == "file://\(folder.path)/\(id)")
            #expect(FileManager.default.contents(atPath: folder.file(id)) == Data("0123456789".utf8))
            #expect(try await api.sendRaw("DELETE /v1/uploads/\(id)", token: "one", headers: [Self.tus]).status == 204)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func `a whole file is uploaded by one request`() async throws {
        let folder = try TemporaryFolder()
        try await run(in: folder) { api in
            let path = "POST /v1/uploads?filename=..%2F..%2Fetc%2Fx"
            let made = try await api.sendRaw(path, "0123456789", token: "one", headers: ["Content-Type: audio/wav"])
            #expect(made.status == 201 && made.text("complete") == "true", "\(made)")
            #expect(made.text("filename") == "../../etc/x" && made.text("length") == "10")
            let chunked = try await api.sendRaw(
                "POST /v1/uploads", "3\r\nabc\r\n0\r\n\r\n", token: "one", headers: ["Transfer-Encoding: chunked"])
            #expect(chunked.status == 201 && chunked.text("length") == "3", "\(chunked)")
            let first = try await api.sendRaw(
                "POST /v1/uploads", "abc", token: "one", headers: [Self.tus, Self.append, "Upload-Length: 5"])
            #expect(first.text("offset") == "3" && first.text("complete") == "false", "\(first)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 6)
            #expect(try await api.sendRaw("POST /v1/uploads", token: "one").status == 400)
            let long = String(repeating: "a", count: 1001)
            #expect(try await api.sendRaw("POST /v1/uploads", long, token: "one").status == 413)
            let late = try await api.sendRaw(
                "POST /v1/uploads", "3e9\r\n\(long)\r\n0\r\n\r\n", token: "one", headers: ["Transfer-Encoding: chunked"]
            )
            #expect(late.status == 413, "\(late)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 6)
        }
    }

    @Test(arguments: [
        ("POST /v1/uploads", ["Tus-Resumable: 1.0.0"], 400), ("POST /v1/uploads", ["Tus-Resumable: 0.2.2"], 412),
        ("POST /v1/uploads", ["Tus-Resumable: 1.0.0", "Upload-Length: 1e3"], 400),
        ("POST /v1/uploads", ["Tus-Resumable: 1.0.0", "Upload-Length: 1001"], 413),
        ("POST /v1/uploads", ["Tus-Resumable: 1.0.0", "Upload-Length: 1", "Upload-Metadata: filename %%%"], 400),
        ("POST /v1/uploads", ["Tus-Resumable: 1.0.0", "Upload-Defer-Length: 1"], 400),
        ("POST /v1/uploads", ["Content-Type: multipart/form-data; boundary=x"], 415),
        ("PATCH /v1/uploads/up_\(String(repeating: "0", count: 32))", ["Content-Type: text/plain"], 415),
        (
            "PATCH /v1/uploads/up_\(String(repeating: "0", count: 32))",
            ["Content-Type: application/offset+octet-stream"], 400
        ),
        (
            "PATCH /v1/uploads/up_\(String(repeating: "0", count: 32))",
            ["Content-Type: application/offset+octet-stream", "Upload-Offset: 0"], 404
        ),
        ("GET /v1/uploads/up_..%2F..%2Fetc%2Fpasswd", [], 404), ("GET /v1/uploads/%2e%2e", [], 404),
        ("OPTIONS /v1/uploads", [], 204), ("GET /v1/uploads", [], 405),
    ])
    func `a request that is not valid is refused`(line: String, headers: [String], status: Int) async throws {
        let folder = try TemporaryFolder()
        try await run(in: folder) { api in
            let answer = try await api.sendRaw(line, token: "one", headers: headers)
            #expect(answer.status == status, "\(answer)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func `a broken request leaves what arrived, and one writer at a time appends`() async throws {
        let folder = try TemporaryFolder()
        try await run(in: folder) { api in
            let id = try await create(api, 10)
            // The first request stays open.
            let cut = Task {
                try await rawExchange(
                    api.port,
                    [
                        "PATCH /v1/uploads/\(id) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer one-secret\r\n"
                            + "\(Self.append)\r\nUpload-Offset: 0\r\nContent-Length: 10\r\n\r\n0123"
                    ], seconds: 10)
            }
            try await eventually("four bytes arrived") {
                try await api.send("GET /v1/uploads/\(id)", token: "one").text("offset") == "4"
            }
            let second = try await patch(api, id, 4, "456789")
            #expect(second.status == 423, "\(second)")
            #expect(try await api.send("DELETE /v1/uploads/\(id)", token: "one").status == 423)
            _ = try? await cut.value
            try await eventually("the rest is appended") {
                try await patch(api, id, 4, "456789").status == 204
            }
            #expect(FileManager.default.contents(atPath: folder.file(id)) == Data("0123456789".utf8))
        }
    }

    @Test func `uploads expire, and a push that names one starts its time anew`() async throws {
        let folder = try TemporaryFolder()
        let uploads = try #require(UploadFolder(folder.path, maxBytes: 1000, age: .seconds(60)))
        try await run(in: folder) { api in
            let (old, used) = (try await create(api, 1), try await create(api, 1))
            for id in [old, used] { #expect(try await patch(api, id, 0, "a").status == 204) }
            #expect(try uploads.removeExpired() == [])
            for id in [old, used] {
                let times = [
                    timespec(tv_sec: time(nil) - 50, tv_nsec: 0), timespec(tv_sec: time(nil) - 50, tv_nsec: 0),
                ]
                #expect(utimensat(AT_FDCWD, folder.file(id), times, 0) == 0)
            }
            let job = #"{"source": "upload:\#(used)", "format": "mp3"}"#
            #expect(try await api.send("POST /v1/jobs", job, token: "one").status == 201)
            let times = [timespec(tv_sec: time(nil) - 61, tv_nsec: 0), timespec(tv_sec: time(nil) - 61, tv_nsec: 0)]
            #expect(utimensat(AT_FDCWD, folder.file(old), times, 0) == 0)
            #expect(try await api.send("GET /v1/uploads/\(old)", token: "one").status == 404)
            #expect(try [[], [old]].contains(uploads.removeExpired()))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [used, used + ".json"])
        }
    }

    @Test func `an upload is kept until its job starts, and when the job is retried or moved`() async throws {
        let folder = try TemporaryFolder()
        try await run(in: folder) { api in
            let id = try await create(api, 1)
            #expect(try await patch(api, id, 0, "a").status == 204)
            /// The seconds from now on at which the time of the upload starts.
            func start() -> Int {
                var status = stat()
                return stat(folder.file(id), &status) == 0 ? status.st_mtim.tv_sec - time(nil) : .min
            }
            func push(_ more: String) async throws -> String {
                let job = #"{"source": "upload:\#(id)", "format": "mp3"\#(more)}"#
                return try #require(try await api.send("POST /v1/jobs", job, token: "one").text("id"))
            }
            let delayed = try await push(#", "delay": 1000"#)
            #expect((995...1000).contains(start()))
            // An earlier start of another job does not shorten it.
            let failed = try await push("")
            #expect((990...1000).contains(start()))
            let moved = try await api.send(
                "PATCH /v1/jobs/\(delayed)", #"{"not_before": "9998-01-01T00:00:00Z"}"#, token: "admin")
            #expect(moved.status == 200 && start() > 86_400 * 100, "\(moved)")
            // No job keeps it for more than the longest delay.
            let instant = try await push(#", "not_before": "9999-01-01T00:00:00Z""#)
            #expect((86_400 * 365 - 60...86_400 * 365).contains(start()) && !instant.isEmpty)
            // As long ago as that, it would be removed.
            let past = timespec(tv_sec: time(nil) - 59, tv_nsec: 0)
            for path in ["/v1/jobs/\(failed)/retry", "/v1/jobs/actions"] {
                #expect(utimensat(AT_FDCWD, folder.file(id), [past, past], 0) == 0)
                #expect(try await api.send("POST /v1/jobs/\(failed)/cancel", token: "admin").status == 200)
                var body: String =
                    path.hasSuffix("retry")
                    ? "{}" : #"{"action": "retry", "filter": {"state": "cancelled"}, "dry_run": true}"#
                if body != "{}" {
                    let confirm: String = try #require(
                        try await api.send("POST \(path)", body, token: "admin").text("confirm"))
                    body = #"{"action": "retry", "filter": {"state": "cancelled"}, "confirm": "\#(confirm)"}"#
                }
                let retried = try await api.send("POST \(path)", body, token: "admin")
                #expect(retried.status == 200 && start() >= -20, "\(path) \(retried)")
            }
        }
    }

    @Test func `a folder of uploads that cannot be read is reported`() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("uploads")
        #expect(mkdir(path, 0o700) == 0)
        let uploads = try #require(UploadFolder(path, maxBytes: 1000, age: .seconds(60)))
        #expect(rmdir(path) == 0)
        #expect(throws: Problem.self) { try uploads.removeExpired() }
    }

    @Test func `nothing is uploaded without a folder`() async throws {
        try await APIFixture.run { api in
            let refused = try await api.send("POST /v1/uploads")
            #expect(refused.text("code") == "uploads_off", "\(refused)")
            let job = #"{"source": "upload:x", "format": "mp3"}"#
            let pushed = try await api.send("POST /v1/jobs", job)
            #expect(pushed.text("errors.0.pointer") == "/source", "\(pushed)")
        }
    }
}
