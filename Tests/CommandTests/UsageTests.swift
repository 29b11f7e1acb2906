import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct UsageTests {
    private let respool = RespoolProcess()

    @Test(
        arguments: [
            ([], "missing command; see `respool --help`"),
            (["stats"], "unknown command 'stats': did you mean status?"),
            (["--bogus"], "unknown option '--bogus'"),
            (["enqueue"], "missing source"),
            (["enqueue", "a.wav"], "`format` is missing: give one of mp3"),
            (["enqueue", "a.wav", "--to", "xyz"], "`format` is `xyz`: it must be one of mp3"),
            (
                ["enqueue", "a.wav", "--to", "aac"],
                "`format` is `aac`, which is a codec: the formats that support it are m4a, m4b, mp4, mov, adts"
            ),
            (["convert", "a.wav", "b", "--format", "mp33"], "`format` is `mp33` (did you mean `mp3`?)"),
            (["formats", "aac"], "there is no format 'aac', which is a codec"),
            (["formats", "flak"], "there is no format 'flak' (did you mean flac?)"),
            (
                ["enqueue", "a.wav", "--to", "mp3", "--priority", "hihg"],
                "`priority` is `hihg` (did you mean `high`?): it must be high, normal or low"
            ),
            (["enqueue", "a.wav", "--to", "wav", "--sample-format", "S24_LE"], "(did you mean `s24le`?)"),
            (["retry", "1-0", "--set", "sampleRate=44100"], "(did you mean `sample_rate`?)"),
            (["enqueue", "a.wav", "--to", "mp3", "--start", "9", "--end", "5"], "`end` (5) must be after `start` (9)"),
            (
                ["enqueue", "a.wav", "--to", "mp3", "--overwrite", "g"],
                "`overwrite` is `g`: it must be replace, skip or fail"
            ),
            (["enqueue", "a.wav", "--to", "mp3", "--seal"], "--seal requires a group"),
            (
                ["enqueue", "a.wav", "--to", "mp3", "--group", "g", "--group-callback", "https://x.org"],
                "add --group NAME --seal"
            ),
            (["retry", "1-0", "--set", "colour=red"], "there is no field `colour`"),
            (["retry", "1-0", "--set", "dedup=x"], "a retry cannot change `dedup`"),
            (["retry", "1-0", "--failed-with", "weariness"], "--code is 'weariness'"),
            (["cancel", "1-0", "--group", "g"], "'1-0' and a selection of jobs are mutually exclusive"),
            (["cancel"], "missing id"),
            (["limit", "k", "many"], "'many' is not a number of jobs"),
            (["enqueue", "a.wav", "--to", "flac", "--bit-rate", "64k"], "flac is lossless"),
            (["enqueue", "--batch", "/no/such/file"], "cannot read '/no/such/file': No such file or directory"),
            (["enqueue", "a.wav", "--batch", "-"], "'a.wav' and --batch are mutually exclusive"),
            (["enqueue", "a.wav", "--format"], "--format requires a value: write --format FORMAT"),
            (["status", "--json=1"], "--json takes no value"),
            (["status", "--redis", "http://x"], "the Redis address has the scheme 'http'"),
            (["status", "--queue", "a b"], "the queue's name is `a b`"),
            (["jobs", "--state", "done"], "--state is 'done': give queued, waiting"),
            (["jobs", "--limit", "0"], "--limit is '0': give a whole number from 1"),
            (["jobs", "x"], "unexpected operand 'x'"),
            (["seal"], "missing operand: write respool seal GROUP"),
            (["purge"], "missing id: give ids, or a filter such as --group NAME"),
            (["purge", "--yes"], "missing id: give ids, or a filter"),
            (["cancel", "--group", "g"], "--yes is missing: give it to change all jobs of the filter"),
            (["retry", "--code", "timeout", "--yes", "--dry-run"], "--dry-run and --yes are mutually exclusive"),
            (["cancel", "1-0", "--dry-run"], "--yes and --dry-run are for filters, and '1-0' is an id"),
            (["purge", "--query", "", "--yes"], "--query is empty: give TEXT, or leave it out"),
            (["jobs", "--follow", "--worker", "h:1"], "of the filters, --follow takes --state alone"),
            (["purge", "--state", "running"], "--state is 'running': give queued, waiting, delayed, completed"),
            (["worker", "--slots", "many"], "--slots is 'many': expected a whole number from 1 to 1024"),
            (["worker", "--grace", "-1"], "--grace is '-1': expected a number of seconds from 0"),
            (["worker", "--source-root", "/a:b"], "a source root must not contain a colon"),
            (["convert", "a.wav"], "missing operand: write respool convert SOURCE DESTINATION"),
            (["convert", "a.wav", "b.xyz"], "'b.xyz' does not determine the format: give --format mp3|"),
            (["convert", "a.wav", "-"], "'-' does not determine the format"),
            (["convert", "a.wav", "b.mp3", "--quality", "99"], "mp3 does not support quality 99"),
            (["completions", "tcsh"], "there are no completions for 'tcsh': give bash, zsh or fish"),
            (["demo", "--minutes", "0"], "--minutes is '0'"),
        ] as [([String], String)])
    func `wrong usage is refused in one sentence`(words: [String], sentence: String) async throws {
        let outcome = try await respool.run(words)
        #expect(outcome.exitCode == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
        #expect(outcome.errors.hasPrefix("respool: ") && outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func `all wrong fields of a job are named, each in a line`() async throws {
        for command in [["enqueue", "https://x.org/a"], ["convert", "a.wav", "b.mp3"]] {
            let outcome = try await respool.run(command + ["--format", "mp3", "--channels", "0", "--gain", "loud"])
            let lines = outcome.errors.split(separator: "\n")
            #expect(outcome.exitCode == 2 && outcome.output == "" && lines.count == 2, "\(outcome.errors)")
            #expect(lines.first?.hasSuffix("it must be a whole number from 1 to 64 (and 1 more)") == true)
            #expect(lines.last == "  `gain` is `loud`: it must be decibels from -120 to 60")
        }
    }

    @Test func `an environment variable with a wrong value is named`() async throws {
        let outcome = try await RespoolProcess(environment: ["RESPOOL_SLOTS": "0"]).run("worker")
        #expect(outcome.exitCode == 2)
        #expect(outcome.errors.contains("RESPOOL_SLOTS is '0'"))
    }

    @Test(arguments: [
        ["status"], ["enqueue", "https://x.org/a", "--to", "mp3"], ["jobs"], ["cancel", "1-0"], ["pause"],
        ["seal", "g"], ["status", "--watch"], ["status", "1-0", "--watch"], ["status", "--group", "g", "--watch"],
    ])
    func `the exit status is 3 if Redis is unreachable`(words: [String]) async throws {
        let port = try LoopbackPort.free()
        let outcome = try await respool.run(words + ["--redis", "redis://:secret@127.0.0.1:\(port)/0"])
        #expect(outcome.exitCode == 3)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("respool: cannot reach Redis at redis://:***@127.0.0.1:\(port)/0"))
        #expect(outcome.errors.contains("RESPOOL_REDIS_URL"))
        #expect(!outcome.errors.contains("secret"))
    }

    @Test func `jobs are checked before Redis is contacted`() async throws {
        let port = try LoopbackPort.free()
        let outcome = try await respool.run("enqueue", "x", "--to", "xyz", "--redis", "redis://127.0.0.1:\(port)")
        #expect(outcome.exitCode == 2)
    }

    @Test func `the command ends silently when nobody reads its output`() async throws {
        let line = "'\(Programs.path("respool"))' man | head -1; exit ${PIPESTATUS[0]}"
        let outcome = try await ChildProcess.run("bash", ["-c", "for i in 1 2 3; do :; done; \(line)"])
        #expect(outcome.errors == "")
    }
}
