import JobSchema
import Jobs
import Redis
import TestSupport
import Testing

/// An entry that is no job, and a part of the sentence that says why.
struct Garbage: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [RedisArgument]
    let reason: String

    init(_ name: String, _ arguments: [RedisArgument], _ reason: String) {
        self.name = name
        self.arguments = arguments
        self.reason = reason
    }

    var testDescription: String { name }
}

@Suite(.failureReport, .timeLimit(.minutes(5))) struct InboxTests {
    /// Pushes raw arguments, and answers what became of the entry after a claim and a worker's check; a good job behind it must be
    /// claimed.
    private func fate(of arguments: [RedisArgument]) async throws -> JobRecord {
        var record: JobRecord?
        try await QueueFixture.run { fixture in
            var command: RedisCommand = ["XADD", .text(fixture.queue.keys.inbox), "*"]
            command.append(contentsOf: arguments)
            let id = try await fixture.client.send(command).string ?? ""
            let good = try await fixture.push()
            #expect(try await fixture.claimRight(5).map(\.id) == [good])
            record = try await fixture.record(id)
            let spec = try await fixture.client.send(["GET", .text(fixture.queue.keys.spec(id))]).bytes
            #expect((spec?.count ?? 0) <= (record?.attempt == 0 ? 2048 : 65_536))
            _ = try await fixture.queue.list()
        }
        return try #require(record)
    }

    private static let base: [RedisArgument] = ["source", "https://x.org/a", "format", "mp3"]

    static let garbage: [Garbage] = [
        Garbage("an unknown field", base + ["fromat", "mp3"], "unknown field `fromat`"),
        Garbage("a name in another spelling", base + ["sampleRate", "44100"], "(did you mean `sample_rate`?)"),
        Garbage("a name that is no name", base + [.bytes([0, 255, 10, 39]), "x"], "unknown field `???'`"),
        Garbage("a name in UTF-8", base + ["größe\u{202e}\n", "x"], "unknown field `größe"),
        Garbage("a name with a blank", base + ["format mp3", "x"], "unknown field `format mp3`"),
        Garbage(
            "a callback that is no URL", base + ["callback", "ftp://x.org/secret"],
            "`callback` is `ftp://x.org`: it must"),
        Garbage("a field twice", base + ["format", "wav"], "`format` is given twice"),
        Garbage("no source", ["format", "mp3"], "`source` is missing"),
        Garbage("an empty source", ["source", "", "format", "mp3"], "`source` is missing"),
        Garbage("a day of no month", base + ["not_before", "2030-13-01T00:00:00Z"], "`not_before`"),
        Garbage("no format", ["source", "https://x.org/a"], "`format` is missing"),
        Garbage(
            "a long value", base + ["output", .text(String(repeating: "x", count: 17_000))],
            "`output` is longer than 16384"
        ),
        Garbage(
            "a huge value", base + ["output", .text(String(repeating: "x", count: 3_000_000))], "longer than 16384"),
        Garbage("binary", base + ["output", .bytes([0xc3, 0x28, 0xff, 0, 1])], "`output` is not UTF-8"),
        Garbage("an overlong form", base + ["output", .bytes([0xc0, 0xaf])], "`output` is not UTF-8"),
        Garbage("half a pair", base + ["output", .bytes([0xed, 0xa0, 0x80])], "`output` is not UTF-8"),
        Garbage("split bytes", base + ["output", .bytes([0xc3, 0x41, 0xa9])], "`output` is not UTF-8"),
        Garbage("a zero byte", base + ["output", .bytes([65, 0, 65])], "`output` is not UTF-8"),
        Garbage("not a number", base + ["delay", "nan"], "`delay` is `nan`"),
        Garbage("infinity", base + ["delay", "inf"], "`delay` is `inf`"),
        Garbage("a great number", base + ["delay", "1e999"], "`delay` is `1e999`"),
        Garbage("a negative delay", base + ["delay", "-1"], "`delay` is `-1`"),
        Garbage("a hexadecimal number", base + ["delay", "0x10"], "`delay` is `0x10`"),
        Garbage("no timeout", base + ["timeout", "0"], "from 1 to 86400"),
        Garbage("an empty number", base + ["timeout", ""], "`timeout` is ``"),
        Garbage("half a try", base + ["attempts", "2.5"], "`attempts` is `2.5`"),
        Garbage("no try", base + ["attempts", "0"], "from 1 to 100"),
        Garbage("a strange priority", base + ["priority", "urgent"], "`priority` is `urgent`"),
        Garbage("a day that is none", base + ["not_before", "2030-02-30T00:00:00Z"], "`not_before`"),
        Garbage("no time zone", base + ["not_before", "2030-01-01T00:00:00"], "`not_before`"),
        Garbage("two starts", base + ["not_before", "2030-01-01T00:00:00Z", "delay", "1"], "mutually exclusive"),
        Garbage("a strange end", base + ["expires", "tomorrow"], "`expires` is `tomorrow`"),
        Garbage("a strange deadline", base + ["deadline", "-1"], "`deadline` is `-1`"),
        Garbage(
            "a long key", base + ["dedup", .text(String(repeating: "k", count: 257))],
            "`dedup` has 257 bytes: it must have 1 to 256"),
        Garbage(
            "100 fields", base + (0..<98).flatMap { [RedisArgument("f\($0)"), "x"] }, "over the limit of 64"
        ),
        Garbage(
            "too much in all",
            ["source", "output", "start", "end", "codec", "format"].flatMap {
                [RedisArgument($0), .text(String(repeating: "x", count: 15_000))]
            }, "over the limit of 65536"
        ),
    ]

    @Test(arguments: garbage)
    func `an entry of garbage fails with a reason, and the next ones are admitted`(
        _ entry: Garbage
    ) async throws {
        let record = try await fate(of: entry.arguments)
        #expect(record.state == .failed && record.error?.code == .invalidRequest && record.error?.retryable == false)
        #expect(record.error?.message.contains(entry.reason) == true, "\(record.error?.message ?? "")")
        #expect((record.error?.message.utf8.count ?? 0) < 300)
    }

    @Test func `all wrong fields of an entry are found together, also those that the queue uses`() async throws {
        let record = try await fate(
            of: Self.base + [
                "priority", "urgent", "delay", "soon", "bit_rate", "fast", "channels", "0", "colour", "red", "end", "0",
            ])
        let fields = try #require(record.error?.fields)
        #expect(fields.map(\.field).sorted() == ["bit_rate", "channels", "colour", "delay", "end", "priority"])
        #expect(record.error?.message == fields[0].message + " (and 5 more)")
        #expect(record.attempt == 1 && record.error?.code == .invalidRequest && record.error?.retryable == false)
        let long: [RedisArgument] = ["output", .text(String(repeating: "x", count: 17_000)), "start", .bytes([255])]
        let unstored = try await fate(of: Self.base + long + ["channels", "0"])
        #expect(unstored.attempt == 0 && unstored.error?.fields?.map(\.field) == ["output", "start"])
        #expect(unstored.error?.message.hasSuffix(" (and 1 more)") == true)
    }

    /// It would keep a right job away, or wait for years.
    @Test(arguments: [["fromat", "mp3"], ["priority", "urgent"], ["expires", "tomorrow"]])
    func `a job with wrong names or options waits for nothing, and holds no dedup key`(_ wrong: [String]) async throws {
        try await QueueFixture.run { fixture in
            try await fixture.queue.setLimit(0, key: "k")
            let key: [RedisArgument] = ["dedup", "d", "limit_key", "k", "delay", "1000000"]
            var command: RedisCommand = ["XADD", .text(fixture.queue.keys.inbox), "*"]
            command.append(contentsOf: Self.base + key + wrong.map { .text($0) })
            let id = try await fixture.client.send(command).string ?? ""
            var right: RedisCommand = ["XADD", .text(fixture.queue.keys.inbox), "*"]
            right.append(contentsOf: Self.base + ["dedup", "d"])
            let good = try await fixture.client.send(right).string ?? ""
            #expect(try await fixture.claimRight(5).map(\.id) == [good])
            #expect(try await fixture.record(id).state == .failed)
        }
    }

    @Test func `the wrong fields of an entry have at most 4 KiB`() async throws {
        let names: [RedisArgument] = (0..<16).flatMap { number -> [RedisArgument] in
            [.text(String(repeating: "/", count: 65) + "\(number)"), "x"]
        }
        let record = try await fate(of: Self.base + names)
        let fields = try #require(record.error?.fields)
        #expect((1..<16).contains(fields.count))
        #expect(record.error?.message.hasSuffix(" (and 15 more)") == true)
    }

    @Test func `an option that only Swift can read is refused, and not ignored`() async throws {
        let fields: [RedisArgument] = [
            "delay", "0x10", "expires", "0x10", "not_before", "2030-02-30T00:00:00Z", "timeout", "0x10",
        ]
        let record = try await fate(of: Self.base + fields)
        let named = Set(record.error?.fields?.map(\.field) ?? [])
        #expect(named.isSuperset(of: ["delay", "expires", "not_before"]), "\(named)")
    }

    @Test func `a retry forgets the wrong fields`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push(["priority": "urgent", "channels": "0"])
            try await fixture.claimRight()
            #expect(try await fixture.record(id).error?.fields?.count == 2)
            #expect(try await fixture.queue.retry([id], changes: ["priority": "low", "channels": ""]) == [.retried])
            let jobs = try await fixture.claimRight()
            #expect(jobs.map(\.id) == [id] && jobs[0].unusable.isEmpty)
            _ = try await fixture.finish(jobs[0], .failed(Failure(.noAudio, "it is silent")))
            #expect(try await fixture.record(id).error == Failure(.noAudio, "it is silent"))
        }
    }

    @Test func `every field is admitted`() async throws {
        try await QueueFixture.run { fixture in
            let values = [
                "source": "https://x.org/a", "format": "mp3", "priority": "low", "attempts": "7", "timeout": "60.5",
                "delay": "0", "expires": "2100-12-31T23:59:59.5+01:30", "dedup": "k", "deadline": "60",
                "callback": "https://x.org/",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ]
            for field in JobField.all {
                var fields = ["source": "https://x.org/a", "format": "mp3"]
                if field.name == "not_before" {
                    fields[field.name] = "2001-01-01T00:00:00Z"
                } else {
                    fields[field.name] = values[field.name] ?? "x"
                }
                let id = try await fixture.push(fields)
                _ = try await fixture.queue.runMaintenance()
                let record = try await fixture.record(id)
                #expect(record.state == .waiting, "\(field.name): \(record.error?.message ?? "")")
            }
        }
    }

    @Test func `instants are parsed as Swift parses them`() async throws {
        let instants = [
            "2030-01-31T12:00:00Z", "2028-02-29T23:59:59.999Z", "2100-02-28T00:00:00+14:00",
            "2031-12-31T23:30:00-11:30",
            "2400-02-29T00:00:00Z", "2030-06-15T10:20:30.5Z",
        ]
        try await QueueFixture.run { fixture in
            for instant in instants {
                let id = try await fixture.push(["not_before": instant])
                _ = try await fixture.queue.runMaintenance()
                let expected = try #require(Instant.milliseconds(parsing: instant))
                #expect(try await fixture.record(id).dueAt == expected, "\(instant)")
            }
        }
    }

    @Test func `an entry with an id that its producer chose is admitted safely`() async throws {
        for chosen in ["18446744073709551615-18446744073709551615", "9999999999999-5", "1-1"] {
            try await QueueFixture.run { fixture in
                let inbox = fixture.queue.keys.inbox
                _ = try await fixture.client.send([
                    "XADD", .text(inbox), .text(chosen), "source", "https://x.org/a", "format", "mp3",
                ])
                let job = try await fixture.claimOne()
                #expect(job.id == chosen)
                #expect(abs(job.createdAt - (try await fixture.record(chosen).startedAt ?? 0)) < 5000)
                let next = try await fixture.push()
                #expect(next.hasPrefix("1"), "\(next)")
                #expect(try await fixture.claimOne().id == next)
                _ = try await fixture.queue.stats()
            }
        }
    }

    @Test func `no entry is admitted twice, whatever id it has`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await fixture.push()
            let job = try await fixture.claimOne()
            _ = try await fixture.client.send(["DEL", .text(fixture.queue.keys.inbox)])
            _ = try await fixture.client.send([
                "XADD", .text(fixture.queue.keys.inbox), .text(id), "source", "https://y.org/b", "format", "wav",
            ])
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.record(id).source == "https://example.org/a.flac")
            _ = try await fixture.finish(job, .completed([]))
        }
    }

    @Test func `a call admits at most 64 entries or 256 KiB`() async throws {
        try await QueueFixture.run { fixture in
            // A claim of a paused queue is one call of the script.
            try await fixture.queue.pause()
            for _ in 0..<100 { try await fixture.push() }
            #expect(try await fixture.queue.claim(count: 1, worker: "w").isPaused)
            #expect(try await fixture.queue.stats()[.waiting] == 64)
            try await fixture.queue.runMaintenance()
            #expect(try await fixture.queue.stats()[.waiting] == 100)
            for _ in 0..<40 { try await fixture.push(["output": String(repeating: "x", count: 15_000)]) }
            _ = try await fixture.claim()
            #expect(try await fixture.queue.stats()[.waiting] == 118)
            try await fixture.queue.runMaintenance()
            #expect(try await fixture.queue.stats()[.waiting] == 140)
        }
    }

    @Test func `a job behind thousands of others in the inbox is deleted`() async throws {
        try await QueueFixture.run { fixture in
            let entry: RedisCommand = [
                "XADD", .text(fixture.queue.keys.inbox), "*", "source", "s3://a/b", "format", "mp3",
            ]
            let ids = try await fixture.client.pipeline(Array(repeating: entry, count: 5000))
            let id = try #require(ids.last?.string)
            #expect(try await fixture.queue.remove(id) == .removed)
            #expect(try await fixture.queue.remove(id) == .unknown)
            #expect(try await fixture.queue.stats()[.waiting] == 4999)
        }
    }

    @Test func `every character of a value is kept, and a plain value stays as it is`() async throws {
        try await QueueFixture.run { fixture in
            let text = String(String.UnicodeScalarView((1..<0x180).map { UnicodeScalar($0)! })) + "é…😀"
            let plain = (0x20..<0x7f).filter { $0 != 0x22 && $0 != 0x5c }.map { Character(UnicodeScalar($0)!) }
            let odd = try await fixture.push(["output": text])
            let usual = try await fixture.push(["output": String(plain)])
            let jobs = try await fixture.claim(2)
            #expect(jobs.first { $0.id == odd }?.fields["output"] == text)
            #expect(jobs.first { $0.id == usual }?.fields["output"] == String(plain))
            let spec = try await fixture.client.send(["GET", .text(fixture.queue.keys.spec(usual))]).string ?? ""
            #expect(spec.contains("\"output\":\"\(String(plain))\"") && spec.contains("https://"))
        }
    }
}
