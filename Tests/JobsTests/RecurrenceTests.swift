import Foundation
import JobSchema
import Jobs
import Testing

@Suite struct RecurrenceTests {
    private static func time(_ text: String) -> Int64 { Instant.milliseconds(parsing: text)! }

    /// The next times of an expression, as ISO 8601 to the minute.
    private static func next(
        _ count: Int, _ expression: String, _ zone: String = "Europe/Berlin", after start: String
    ) throws -> [String] {
        let recurrence = try Recurrence(expression, zone: zone)
        var (times, moment) = ([String](), time(start))
        for _ in 0..<count {
            moment = try #require(recurrence.next(after: moment))
            times.append(String(Date(timeIntervalSince1970: Double(moment) / 1000).ISO8601Format().prefix(16)))
        }
        return times
    }

    /// Made by Tools/make-occurrences from croniter and Python's zoneinfo.
    @Test func `occurrences match those of croniter and zoneinfo`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/occurrences.tsv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 600)
        for line in lines {
            let cells = line.split(separator: "\t").map(String.init)
            let (after, expected) = (try #require(Int64(cells[2])), try #require(Int64(cells[3])))
            #expect(try Recurrence(cells[0], zone: cells[1]).next(after: after * 1000) == expected * 1000, "\(line)")
        }
    }

    @Test func `an occurrence comes once where the clock skips or repeats its time of day`() throws {
        #expect(
            try Self.next(2, "30 2 * * *", after: "2026-03-28T12:00:00Z") == ["2026-03-29T01:00", "2026-03-30T00:30"])
        #expect(
            try Self.next(2, "0,30 2 * * *", after: "2026-03-28T12:00:00Z") == ["2026-03-29T01:00", "2026-03-30T00:00"])
        #expect(
            try Self.next(2, "30 2 * * *", after: "2026-10-24T12:00:00Z") == ["2026-10-25T00:30", "2026-10-26T01:30"])
    }

    @Test func `an interval shorter than a day follows elapsed time`() throws {
        let autumn = ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"]
        #expect(try Self.next(4, "*/30 * * * *", after: "2026-10-24T23:30:00Z") == autumn)
        #expect(try Self.next(1, "*/30 2 * * *", after: "2026-03-28T12:00:00Z") == ["2026-03-30T00:00"])
        #expect(
            try Self.next(2, "@hourly", after: "2026-03-29T00:30:00Z") == ["2026-03-29T01:00", "2026-03-29T02:00"])
    }

    @Test func `the day of the month and the day of the week combine as in cron`() throws {
        let either = try Self.next(3, "0 0 13 2 FRI", "UTC", after: "2026-02-01T00:00:00Z")
        #expect(either == ["2026-02-06T00:00", "2026-02-13T00:00", "2026-02-20T00:00"])
        let both = try Self.next(2, "0 0 */2 * mon", "UTC", after: "2026-05-31T00:00:00Z")
        #expect(both == ["2026-06-01T00:00", "2026-06-15T00:00"])
        #expect(try Self.next(1, "0 0 29 2 *", "UTC", after: "2096-03-01T00:00:00Z") == ["2104-02-29T00:00"])
        #expect(try Self.next(1, "0 0 * * 7", "UTC", after: "2026-06-01T00:00:00Z") == ["2026-06-07T00:00"])
        #expect(try Recurrence("0 0 30 2 *", zone: "UTC").next(after: 0) == nil)
    }

    @Test func `a file name has the local time of its time zone`() throws {
        let parts = try Recurrence("@daily", zone: "Asia/Kolkata").parts(at: Self.time("2030-01-31T20:45:00Z"))
        #expect(parts.date == "2030-02-01" && parts.time == "02-15")
    }

    @Test(arguments: [
        ("", "has 0 fields"), ("* * * *", "has 4 fields"), ("@reboot", "@daily"),
        ("60 * * * *", "`60` is not a valid minute"),
        ("* 24 * * *", "is not a valid hour"), ("* * 0 * *", "is not a valid day of the month"),
        ("* * * FOO *", "`FOO` is not a valid month"),
        ("* * * * 8", "SUN to SAT"), ("5-1 * * * *", "ends before it starts"), ("*/0 * * * *", "the step `0`"),
        ("5/10 * * * *", "5-59/…"), ("1,,2 * * * *", "`` is out of range"), ("1- * * * *", "`` is out of range"),
        ("-1 * * * *", "is not a valid minute"), ("** * * * *", "`**` is not a valid minute"),
        ("+1 * * * *", "`+1` is not a valid minute"),
    ])
    func `a wrong cron expression is refused with a reason`(_ text: String, _ reason: String) {
        let failure = #expect(throws: Failure.self) { try CronExpression(text) }
        #expect(
            failure?.code == .invalidRequest && failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
    }

    @Test(arguments: ["", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "Europe", "zone.tab", "Europe//Berlin"])
    func `an unknown time zone is refused`(_ name: String) {
        let failure = #expect(throws: Failure.self) { try TimeZoneRules.named(name) }
        #expect(failure?.message.contains("`\(name)`") == true || failure?.message.contains("/\(name) cannot") == true)
    }
}
