import Foundation
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct ScheduleCommandTests {
    private let server: RedisServer
    private let respool: RespoolProcess

    init() async throws {
        server = try await RedisServer()
        respool = RespoolProcess(server)
    }

    private func line(_ outcome: TestSupport.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test func `a schedule is added, shown, run, paused and removed`() async throws {
        let added = try await respool.run(
            "schedule", "add", "night", "30 2 * * *", "--time-zone", "Europe/Berlin", "--source",
            "https://u:p@x.org/{date}.wav?sig=s3cret", "--to", "mp3", "--output", "{date}.mp3", "--json")
        #expect(added.exitCode == 0, "\(added.errors)")
        #expect(try line(added)["cron"] as? String == "30 2 * * *" && !added.output.contains("s3cret"))
        let next = try #require(try line(added)["next_at"] as? String)
        #expect(next.hasSuffix(":30:00.000Z"))
        // By the clock of its own zone, in which it is half past two, one or two hours ahead.
        let shown = try await respool.run("schedule", "list").output
        #expect(shown.contains(/\d{4}-\d\d-\d\d 02:30 \+0[12]:00/), "\(shown)")
        let id = try await respool.run("schedule", "run", "night").lines[0]
        let today = try #require(try await JobQueue(client: server.client()).jobs([id])[0])
        #expect(today.source?.contains("{") == false)
        #expect(try await respool.run("schedule", "pause", "night").exitCode == 0)
        let list = try await respool.run("schedule", "list")
        #expect(list.lines.count == 2 && list.output.contains("paused") && list.output.contains(id))
        #expect(try await respool.run("schedule", "resume", "night").exitCode == 0)
        #expect(try line(try await respool.run("schedule", "list", "--json"))["next_at"] as? String == next)
        #expect(try await respool.run("schedule", "remove", "night").exitCode == 0)
        let none = try await respool.run("schedule", "list")
        #expect(none.output == "" && none.errors.contains("there are no schedules"))
    }

    @Test func `a schedule takes a local path, which may contain a date`() async throws {
        let words = ["schedule", "add", "a", "@daily", "--source", "/in/a b/{date}.wav", "--to", "mp3"]
        #expect(try await respool.run(words).exitCode == 0)
        let again = try await respool.run(words)
        #expect(again.exitCode == 1 && again.errors.contains("add --replace"))
        #expect(try await respool.run(words + ["--replace"]).exitCode == 0)
        let list = try await respool.run("schedule", "list", "--json")
        #expect(try line(list)["source"] as? String == "file:///in/a%20b/{date}.wav")
    }

    @Test(arguments: [
        (["add", "x", "61 * * * *"], "`61` is not a valid minute"),
        (["add", "x", "@daily", "--time-zone", "CEST"], "`CEST`"),
        (["add", "x", "0 0 30 2 *"], "has no occurrence within 50 years"),
        (["add", "a b", "@daily"], "'a b' is not a schedule name"),
        (["add", "x", "@daily", "--bit-rate", "no"], "`bit_rate` is `no`"),
        (["add", "x", "@daily", "--deadline", "2030-01-31T12:00:00Z"], "`deadline` is a fixed instant"),
        (["add", "x", "@daily", "--not-before", "2030-01-31T12:00:00Z"], "give seconds as `delay`"),
        (["add", "x"], "takes 2 more operands, not 1"), (["remove"], "takes 1 more operand"),
        (["drop", "x"], "unknown action 'drop'"),
    ])
    func `a schedule that cannot run is refused with a reason`(_ words: [String], _ reason: String) async throws {
        let outcome = try await respool.run(["schedule"] + words + ["--source", "https://x.org/a", "--to", "mp3"])
        #expect(outcome.exitCode == 2 && outcome.errors.contains(reason), "\(outcome.errors)")
        let none = try await respool.run("schedule", "list")
        #expect(none.output == "" && none.errors.contains("there are no schedules"))
    }

    @Test func `all that is wrong with a schedule is reported at once`() async throws {
        let outcome = try await respool.run(
            "schedule", "add", "x", "61 * * * *", "--time-zone", "CEST", "--source", "https://x.org/a", "--to", "mp3",
            "--channels", "0", "--gain", "loud")
        #expect(outcome.exitCode == 2 && outcome.errors.split(separator: "\n").count == 4, "\(outcome.errors)")
    }

    @Test func `a missing schedule and a missing source are reported`() async throws {
        for verb in ["remove", "run", "pause", "resume"] {
            let outcome = try await respool.run("schedule", verb, "x")
            #expect(outcome.exitCode == 1 && outcome.errors.contains("there is no schedule 'x'"))
        }
        let outcome = try await respool.run("schedule", "add", "x", "@daily", "--to", "mp3")
        #expect(outcome.exitCode == 2 && outcome.errors.contains("--source URL"))
    }
}
