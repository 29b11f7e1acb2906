import Foundation
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct BatchTests {
    private let server: RedisServer
    private let respool: RespoolProcess

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
    }

    private var queue: JobQueue { JobQueue(client: server.client()) }

    private func spec(_ id: String) async throws -> [String: String] {
        let text = try await server.client().send(["GET", .init("respool:{default}:spec:\(id)")]).string
        return try JSONDecoder().decode([String: String].self, from: Data((text ?? "{}").utf8))
    }

    @Test func `a line's object, numbers and Booleans are pushed as text`() async throws {
        let lines = """
            {"source":"https://x.org/1","format":"mp3","sample_rate":44100,"start":1.5,"dedup":null}

            {"source":"b c.wav","format":"wav","attempts":3}\r
            """
        let outcome = try await RespoolProcess(server, folder: "/tmp").run("enqueue", "--batch", "-", input: lines)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.lines.count == 2)
        #expect(
            try await spec(outcome.lines[0])
                == ["source": "https://x.org/1", "format": "mp3", "sample_rate": "44100", "start": "1.5"])
        #expect(try await spec(outcome.lines[1])["source"] == "file:///tmp/b%20c.wav")
    }

    @Test func `flags apply to lines that leave the field out`() async throws {
        let lines = "{\"source\":\"https://x.org/1\"}\n{\"source\":\"https://x.org/2\",\"format\":\"flac\"}"
        let outcome = try await respool.run("enqueue", "--batch", "-", "--to", "opus", input: lines)
        #expect(try await queue.jobs(outcome.lines).map { $0?.format } == ["opus", "flac"])
    }

    @Test func `a CSV cell may hold quotes, commas and line breaks`() async throws {
        let table = "source,format,dedup\r\n\"https://x.org/a,\"\"b\"\"\",mp3,\"two\nlines\"\nhttps://x.org/2,flac,\n"
        let outcome = try await respool.run("enqueue", "--batch", "-", input: table)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(
            try await spec(outcome.lines[0]) == [
                "source": "https://x.org/a,\"b\"", "format": "mp3", "dedup": "two\nlines",
            ])
        #expect(try await spec(outcome.lines[1]) == ["source": "https://x.org/2", "format": "flac"])
    }

    @Test(arguments: [
        (
            "{\"source\":\"https://x.org/1\",\"format\":\"mp3\"}\n\n{\"source\":\"https://x.org/1\"}",
            "line 3: `format` is missing"
        ),
        ("{\"source\":\"https://x.org/1\",\"format\":\"mp3\",\"x\":1}", "line 1: unknown field `x`"),
        ("{\"source\":\"https://x.org/1\",\"format\":\"mp3\"}\n[1]", "line 2: `[1]` is not a JSON object"),
        ("{\"source\":\"https://x.org/1\",\"format\":\"mp3\"}\n{\"source", "line 2: `{\"source` is not a JSON object"),
        ("hello", "line 1: give one JSON object per line, or CSV"),
        ("source,format\nhttps://x.org/1\n", "line 2: 1 cells for 2 fields"),
        ("source,format\nhttps://x.org/1,\"mp3\n", "line 2: a quote is not closed"),
        (
            "{\"source\":\"https://x.org/1\",\"format\":\"mp3\",\"overwrite\":{\"title\":\"x\"}}",
            "`overwrite` is `{\"title\":\"x\"}`: it must be replace, skip or fail"
        ),
    ])
    func `a bad line is named and nothing is pushed`(lines: String, sentence: String) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("batch", text: lines)
        for outcome in [
            try await respool.run("enqueue", "--batch", "-", input: lines),
            try await respool.run("enqueue", "-b", path),
        ] {
            #expect(outcome.exitCode == 2)
            #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
            #expect(outcome.errors.contains("no job was pushed"))
            #expect(outcome.output == "")
        }
        #expect(try await queue.stats().counts.values.allSatisfy { $0 == 0 })
    }

    @Test func `a file is checked to its end before the first job is pushed`() async throws {
        let good = (1...2500).map { "{\"source\":\"https://x.org/\($0)\",\"format\":\"mp3\"}" }
        let folder = try TemporaryFolder()
        let bad = try folder.write("bad.jsonl", text: (good + ["{}"]).joined(separator: "\n"))
        let refused = try await respool.run("enqueue", "-b", bad)
        #expect(refused.exitCode == 2 && refused.errors.contains("line 2501"))
        #expect(try await queue.stats()[.waiting] == 0)
        let path = try folder.write("good.jsonl", text: good.joined(separator: "\n"))
        let pushed = try await respool.run("enqueue", "-b", path)
        #expect(pushed.exitCode == 0 && Set(pushed.lines).count == 2500)
        #expect(try await queue.jobs([pushed.lines[2499]])[0]?.source == "https://x.org/2500")
        let streamed = try await respool.run("enqueue", "-b", "-", input: (good + ["{}"]).joined(separator: "\n"))
        #expect(streamed.exitCode == 2 && streamed.lines.count == 2000)
        #expect(streamed.errors.contains("the 2 000 jobs before were pushed"))
    }
}
