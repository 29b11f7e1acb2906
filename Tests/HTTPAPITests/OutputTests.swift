import Crypto
import FoundationEssentials
import Glibc
import HTTPAPI
import JobSchema
import Jobs
import MediaTypes
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct OutputTests {
    private static let tokens =
        APIFixture.token("reader", "read") + APIFixture.token("tenant", "read", "group=tenant-")
        + APIFixture.token("admin", "operate")

    /// Runs the body with a completed job whose outputs have these URLs, of 10 bytes each.
    private func run(
        outputs: [String], sha256: String = "abc0", in folder: TemporaryFolder,
        _ body: (APIFixture, String) async throws -> Void
    ) async throws {
        try await APIFixture.run(tokens: Self.tokens, outputs: OutputFolder(folder.path)) { api in
            let fields = ["source": "https://x.org/a", "format": "mp3"]
            let id = try await api.queue.enqueue([fields])[0].id
            let job = try #require(try await api.queue.claim(count: 1, worker: "host:1:abc").jobs.first)
            let reports = outputs.map { url in
                OutputReport(
                    url: url, format: "mp3", codec: "mp3", bytes: 10, duration: 1, sampleRate: 44_100, channels: 2,
                    bitRate: 128_000, sha256: sha256, copied: false, gapless: .init(start: 0, end: 0),
                    damage: .init(seconds: 0, events: 0), settings: [:], warnings: [])
            }
            _ = try await api.queue.finish(id: job.id, token: job.token, outcome: .completed(reports))
            try await body(api, "/v1/jobs/\(id)/outputs")
        }
    }

    private func write(_ name: String, _ text: String, in folder: TemporaryFolder) {
        _ = FileManager.default.createFile(atPath: folder.file(name), contents: Data(text.utf8))
    }

    @Test func `an output is downloaded as a whole and in ranges`() async throws {
        let folder = try TemporaryFolder()
        write("ä b.mp3", "0123456789", in: folder)
        try await run(outputs: ["\(folder.path)/ä b.mp3"], in: folder) { api, path in
            let whole = try await api.send("GET \(path)/0", token: "reader")
            #expect(whole.status == 200 && whole.body == "0123456789", "\(whole)")
            for line in [
                "Content-Type: audio/mpeg", "ETag: \"abc0\"", "Accept-Ranges: bytes", "Content-Length: 10",
                "Content-Security-Policy: sandbox", "X-Content-Type-Options: nosniff",
                "Content-Disposition: attachment; filename=\"__ b.mp3\"; filename*=UTF-8''%C3%A4%20b.mp3",
            ] { #expect(whole.head.contains("\r\n\(line)"), "\(line): \(whole.head)") }
            let head = try await api.send("HEAD \(path)/0", token: "reader")
            #expect(head.status == 200 && head.body.isEmpty && head.head.contains("Content-Length: 10"), "\(head)")
            let cases: [([String], Int, String, String)] = [
                (["Range: bytes=2-4"], 206, "234", "bytes 2-4/10"), (["Range: bytes=8-"], 206, "89", "bytes 8-9/10"),
                (["Range: bytes=-3"], 206, "789", "bytes 7-9/10"),
                (["Range: bytes=5-99"], 206, "56789", "bytes 5-9/10"),
                (["Range: bytes=-99"], 206, "0123456789", "bytes 0-9/10"),
                (["Range: bytes=0-1,4-5"], 200, "0123456789", ""), (["Range: bytes=4-2"], 200, "0123456789", ""),
                (["Range: lines=1-2"], 200, "0123456789", ""),
                (["Range: bytes=2-4", "If-Range: \"abc0\""], 206, "234", "bytes 2-4/10"),
                (["Range: bytes=2-4", "If-Range: \"other\""], 200, "0123456789", ""),
                (["If-None-Match: \"abc0\""], 304, "", ""),
            ]
            for (headers, status, body, range) in cases {
                let answer = try await api.send("GET \(path)/0", token: "reader", headers: headers)
                #expect(answer.status == status && answer.body == body, "\(headers) \(answer)")
                #expect(range.isEmpty || answer.head.contains("Content-Range: \(range)"), "\(headers) \(answer)")
            }
            for range in ["10-", "-0", "99-100"] {
                let answer = try await api.send("GET \(path)/0", token: "reader", headers: ["Range: bytes=\(range)"])
                #expect(answer.status == 416 && answer.head.contains("Content-Range: bytes */10"), "\(answer)")
            }
        }
    }

    @Test func `a ticket is for one output, and for reading it`() async throws {
        let folder = try TemporaryFolder()
        write("a.mp3", "0123456789", in: folder)
        write("b.mp3", "abcdefghij", in: folder)
        let outputs = ["a", "b"].map { "\(folder.path)/\($0).mp3" }
        try await run(outputs: outputs, in: folder) { api, path in
            #expect(try await api.send("GET \(path)/0").status == 401)
            #expect(try await api.send("POST \(path)/0/ticket", token: "tenant").status == 404)
            let ticket = try await api.send("POST \(path)/0/ticket", token: "reader")
            let url = try #require(ticket.text("url"))
            #expect(url.hasPrefix("\(path)/0?queue=default&ticket="), "\(ticket)")
            #expect(try await api.send("GET \(url)").body == "0123456789")
            #expect(try await api.send("HEAD \(url)").status == 200)
            #expect(try await api.send("GET \(url)", headers: ["Range: bytes=0-0"]).body == "0")
            // The ticket does not open another output, job or queue, and no other request.
            let query = try #require(url.split(separator: "?").last)
            let job = String(path.dropLast("/outputs".count))
            for (line, status) in [
                ("GET \(path)/1?\(query)", 403), ("GET \(path)/00?\(query)", 403),
                ("GET /v1/jobs/1-1/outputs/0?\(query)", 403),
                ("GET \(url.replacing("=default", with: "=other"))", 403), ("GET \(url)0", 403),
                ("GET \(path)/0?ticket=1.a", 403), ("GET \(job)?\(query)", 401),
                ("POST \(path)/0/ticket?\(query)", 401),
                ("DELETE \(url)", 401), ("GET \(url)&ticket=1", 400),
            ] {
                let answer = try await api.send(line)
                #expect(answer.status == status, "\(line) \(answer)")
            }
        }
    }

    @Test func `only the job's own files below the root are sent, as they were made`() async throws {
        let (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
        write("secret", "0123456789", in: outside)
        write("changed", "0123456789+", in: folder)
        #expect(symlink(outside.file("secret"), folder.file("link")) == 0)
        #expect(symlink(outside.path, folder.file("folder")) == 0)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        let root = folder.path
        let outputs = [
            "\(root)/missing": 410, "\(root)/changed": 410, "\(root)/link": 410,
            "\(root)/folder/secret": 410, "\(root)/pipe": 410, "\(outside.file("secret"))": 404,
            "\(root)/../\(outside.path.split(separator: "/").last ?? "")/secret": 404, "s3://bucket/key": 404,
            "file://\(root)/changed": 404, "\(root)/": 404, "https://example.org/a.mp3": 404,
        ]
        let urls = outputs.keys.sorted()
        try await run(outputs: urls, in: folder) { api, path in
            for (index, url) in urls.enumerated() {
                let answer = try await api.send("GET \(path)/\(index)", token: "admin")
                #expect(answer.status == outputs[url], "\(url) \(answer)")
                #expect(!answer.body.contains("0123456789"))
            }
            #expect(try await api.send("GET \(path)/99", token: "admin").status == 404)
            #expect(try await api.send("GET \(path)/0", token: "tenant").status == 404)
        }
    }

    @Test func `an output that was replaced by one of its size is gone, and one with other rights is not`() async throws
    {
        let folder = try TemporaryFolder()
        let names = ["same", "written", "replaced", "dated"]
        for name in names { write(name, "0123456789", in: folder) }
        let sum = Digest.of(Array("0123456789".utf8))
        try await run(outputs: names.map { folder.file($0) }, sha256: sum, in: folder) { api, path in
            // The times of files follow the kernel's ticks.
            try await Task.sleep(for: .milliseconds(20))
            #expect(chmod(folder.file("same"), 0o600) == 0)
            try Data("abcdefghij".utf8).write(to: URL(filePath: folder.file("written")))
            write("other", "abcdefghij", in: folder)
            #expect(rename(folder.file("other"), folder.file("replaced")) == 0)
            // The time of the last write can be set, as rsync does.
            write("dated", "abcdefghij", in: folder)
            let past = timespec(tv_sec: time(nil) - 1000, tv_nsec: 0)
            #expect(utimensat(AT_FDCWD, folder.file("dated"), [past, past], 0) == 0)
            for (index, status) in [200, 410, 410, 410].enumerated() {
                for _ in 1...2 {
                    let answer = try await api.send("GET \(path)/\(index)", token: "reader")
                    #expect(answer.status == status, "\(names[index]) \(answer)")
                }
                let ticket = try await api.send("POST \(path)/\(index)/ticket", token: "reader")
                #expect(ticket.status == status, "\(names[index]) \(ticket)")
            }
            // What was found of one version of a file is not said of the next.
            try Data("abcdefghij".utf8).write(to: URL(filePath: folder.file("same")))
            #expect(try await api.send("GET \(path)/0", token: "reader").status == 410)
        }
    }

    @Test func `nothing is downloaded without a folder of outputs`() async throws {
        try await APIFixture.run { api in
            for line in ["GET /v1/jobs/1-1/outputs/0", "POST /v1/jobs/1-1/outputs/0/ticket"] {
                let answer = try await api.send(line)
                #expect(answer.status == 404 && answer.text("code") == "downloads_off", "\(answer)")
            }
        }
    }
}
