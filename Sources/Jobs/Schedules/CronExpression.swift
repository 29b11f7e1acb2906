import Glibc
package import JobSchema
import Lifecycle

/// A cron expression: the minutes that match its five fields (minute, hour, day of the month, month, day of the week).
package struct CronExpression: Sendable {
    /// The expression as it was written.
    package let text: String
    private let minutes: CronField
    private let hours: CronField
    private let days: CronField
    private let months: CronField
    private let weekdays: CronField

    /// Parses the five fields, or an alias such as `@daily`.
    package init(_ text: String) throws(Failure) {
        self.text = text
        let words = (Self.words[text.lowercased()] ?? text).split { $0 == " " || $0 == "\t" }.map(String.init)
        guard words.count == 5 else {
            throw Failure(
                .invalidRequest,
                "the cron expression `\(text)` has \(words.count) fields: it must have five, such as `30 2 * * MON`, or be one of "
                    + Self.words.keys.sorted().joined(separator: " "))
        }
        minutes = try CronField(words[0], "minute", 0...59)
        hours = try CronField(words[1], "hour", 0...23)
        days = try CronField(words[2], "day of the month", 1...31)
        months = try CronField(words[3], "month", 1...12, names: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
        weekdays = try CronField(words[4], "day of the week", 0...7, names: "SUN MON TUE WED THU FRI SAT")
    }

    private static let words = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    /// Whether the expression repeats at intervals. It then follows elapsed time rather than the local clock.
    var isPeriodic: Bool { minutes.hasStar || hours.hasStar }

    /// The first matching minute at or after a local clock reading, as seconds since 1970-01-01 00:00 of the same
    /// clock; `nil` if there is none within 50 years.
    func first(from reading: Int64) -> Int64? {
        let start = (reading + 59).floorDivided(by: 60)
        let firstDay = start.floorDivided(by: 1440)
        for day in firstDay...firstDay + 50 * 366 where includes(day: day) {
            let earliest = day == firstDay ? Int(start - day * 1440) : 0
            for hour in earliest / 60..<24 where hours.includes(hour) {
                for minute in max(0, earliest - hour * 60)..<60 where minutes.includes(minute) {
                    return day * 86_400 + Int64(hour * 3600 + minute * 60)
                }
            }
        }
        return nil
    }

    /// As in cron: if both the day of the month and the day of the week are restricted, it is enough if one matches.
    private func includes(day: Int64) -> Bool {
        var seconds = time_t(day * 86_400)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        guard months.includes(Int(parts.tm_mon) + 1) else { return false }
        let isDay = days.includes(Int(parts.tm_mday))
        let weekday = Int(parts.tm_wday)
        let isWeekday = weekdays.includes(weekday) || weekday == 0 && weekdays.includes(7)
        return days.hasStar || weekdays.hasStar ? isDay && isWeekday : isDay || isWeekday
    }
}

/// The numbers that one field of a cron expression matches.
private struct CronField {
    /// Whether the field begins with `*`.
    let hasStar: Bool
    private var numbers: UInt64 = 0

    init(_ text: String, _ title: String, _ bounds: ClosedRange<Int>, names: String = "") throws(Failure) {
        hasStar = text.hasPrefix("*")
        let names = names.split(separator: " ").map(String.init)
        func wrong(_ why: String) -> Failure {
            let more = names.isEmpty ? "" : " or \(names[0]) to \(names[names.count - 1])"
            return Failure(
                .invalidRequest,
                "`\(text)` is not a valid \(title): \(why); write \(bounds.lowerBound) to \(bounds.upperBound)\(more), "
                    + "`*`, lists, ranges or steps, such as 1,5 or 1-5 or */2")
        }
        func number(_ text: Substring) throws(Failure) -> Int {
            if let index = names.firstIndex(of: text.uppercased()) { return index + bounds.lowerBound }
            guard let number = Int(text), text.allSatisfy(\.isNumber), bounds.contains(number) else {
                throw wrong("`\(text)` is out of range")
            }
            return number
        }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let ends = halves[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let low = try halves[0] == "*" ? bounds.lowerBound : number(ends[0])
            let high = try halves[0] == "*" ? bounds.upperBound : number(ends[ends.count - 1])
            guard low <= high else { throw wrong("the range `\(halves[0])` ends before it starts") }
            var step = 1
            if halves.count == 2 {
                guard halves[0] == "*" || ends.count == 2 else {
                    throw wrong("a step requires a range: \(low)-\(bounds.upperBound)/…")
                }
                guard let given = Int(halves[1]), (1...bounds.upperBound).contains(given) else {
                    throw wrong("the step `\(halves[1])` must be 1 to \(bounds.upperBound)")
                }
                step = given
            }
            for number in stride(from: low, through: high, by: step) { numbers |= 1 << number }
        }
    }

    func includes(_ number: Int) -> Bool { numbers >> number & 1 == 1 }
}
