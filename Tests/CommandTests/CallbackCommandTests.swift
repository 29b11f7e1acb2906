import Foundation
import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct CallbackCommandTests {
    @Test func `the callbacks command lists deliveries with their log and resends them`() async throws {
        let server = try await RedisServer()
        let (respool, queue) = (RespoolProcess(server), JobQueue(client: server.client()))
        let id = try #require(
            try await respool.run(
                "enqueue", "https://x.org/a", "--to", "mp3", "--group", "g", "--callback",
                "https://u:secret@x.org/a?secret"
            ).lines.first)
        let other = try await respool.run("enqueue", "https://x.org/b", "--to", "mp3", "--callback", "https://y.org")
            .lines
        #expect(try await respool.run("callbacks").output == "")
        #expect(try await respool.run("seal", "g", "--callback", "https://z.org/done").exitCode == 0)
        let late = try await respool.run("seal", "g", "--callback", "https://other.org/done")
        #expect(late.exitCode == 1 && late.errors.contains("has finished or has another callback"))
        _ = try await queue.cancel([id] + other)
        for callback in try await queue.claimCallbacks(count: 9) {
            switch callback.subject {
            case .job(id):
                _ = try await queue.finishCallback(callback, .refused("gone", status: 410), after: .milliseconds(12))
            case .job: _ = try await queue.finishCallback(callback, .delivered(status: 204), after: .zero)
            case .group: break
            }
        }
        let table = try await respool.run("callbacks").lines
        #expect(
            table.count == 4 && table[0].hasPrefix("ID") && table[1].contains("group g") && table[1].contains("sending")
        )
        #expect(table.contains { $0.contains(id) && $0.contains("job.cancelled to https://x.org/a?…: gone") })
        let json = try await respool.run("callbacks", "--job", id, "--json").output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let log = try #require((object["log"] as? [[String: Any]])?.first)
        #expect(
            log["status"] as? Int == 410 && log["seconds"] as? Double == 0.012 && log["message"] as? String == "gone")
        #expect(object["state"] as? String == "failed" && object["job"] as? String == id && object["group"] is NSNull)
        #expect(!json.contains("secret"))
        let name = try #require(object["id"] as? String)
        #expect(try await respool.run("callbacks", "--retry", name).lines == ["\(name) due"])
        #expect(try await queue.claimCallbacks(count: 9).map(\.id) == [name])
        let unknown = try await respool.run("callbacks", "--retry", "1-1", name)
        #expect(unknown.exitCode == 1)
        #expect(unknown.lines == ["1-1 unknown: there is no such callback", "\(name) sending: it is being delivered"])
        let group = try await respool.run("callbacks", "--group", "g", "--json").lines
        #expect(group.count == 1 && group[0].contains("group.finished"))
        let sealed = try await respool.run(
            "enqueue", "https://x.org/c", "--to", "mp3", "--group", "h", "--seal", "--group-callback", "https://h.org/")
        #expect(sealed.exitCode == 0, "\(sealed.errors)")
        _ = try await queue.cancel(sealed.lines)
        #expect(try await queue.claimCallbacks(count: 9).map(\.url) == ["https://h.org/"])
    }

    @Test(arguments: [
        (["callbacks", "1-1"], "write --retry or --job"), (["callbacks", "--retry"], "--retry requires ids"),
        (
            ["seal", "g", "--callback", "ftp://u:hidden@x.org"],
            "--callback is 'ftp://x.org': it must begin with https://"
        ),
        (
            ["enqueue", "a", "--to", "mp3", "--group", "g", "--seal", "--group-callback", "ftp://u:hidden@x.org"],
            "--group-callback is 'ftp://x.org': it must begin with https://"
        ),
        (
            ["enqueue", "https://x.org/a", "--to", "mp3", "--callback", "x.org"],
            "`callback` is `x.org`: it must begin with"
        ),
    ])
    func `the callbacks command prints its usage`(words: [String], sentence: String) async throws {
        let outcome = try await RespoolProcess().run(words)
        #expect(outcome.exitCode == 2 && outcome.errors.contains(sentence), "\(outcome.errors)")
        #expect(!outcome.errors.contains("hidden"))
    }
}
