import Glibc

/// A yearly rule for daylight saving time in POSIX format, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct YearlyRule {
    private let standard: Int64
    private let summer: Summer?

    private struct Summer {
        let offset: Int64
        let begin: YearlyDay
        let end: YearlyDay
    }

    /// A clock with a constant offset.
    init(offset: Int64) {
        standard = offset
        summer = nil
    }

    init?(_ text: String) {
        var reader = RuleReader(text)
        guard reader.name(), let west = reader.time() else { return nil }
        standard = -west
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        guard reader.name() else { return nil }
        let offset = reader.isAt(",") ? standard + 3600 : reader.time().map { -$0 }
        guard let offset, let begin = reader.day(), let end = reader.day(), reader.isAtEnd else { return nil }
        summer = Summer(offset: offset, begin: begin, end: end)
    }

    func offset(at time: Int64) -> Int64 {
        // The offset after the last change before the time; each year has changes.
        let year = Self.year(of: time)
        return (year - 1...year + 1).flatMap(changes).last { $0.time <= time }?.offset ?? standard
    }

    func nextChange(after time: Int64) -> Int64? {
        let year = Self.year(of: time)
        return (year - 1...year + 2).flatMap(changes).first { $0.time > time }?.time
    }

    private func changes(in year: Int) -> [TimeZoneRules.Change] {
        guard let summer else { return [] }
        return [
            .init(time: summer.begin.second(of: year) - standard, offset: summer.offset),
            .init(time: summer.end.second(of: year) - summer.offset, offset: standard),
        ].sorted { $0.time < $1.time }
    }

    private static func year(of time: Int64) -> Int {
        var seconds = time_t(time)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return Int(parts.tm_year) + 1900
    }
}

/// A second of each year, by the clock before the change.
private struct YearlyDay {
    let form: Form
    let seconds: Int64

    enum Form {
        /// The n-th weekday of a month; 5 is the last one, and Sunday is 0.
        case weekday(month: Int, week: Int, day: Int)
        /// 1 to 365; 29 February is never counted.
        case dayWithoutLeap(Int)
        /// 0 to 365; 29 February is counted.
        case day(Int)
    }

    /// Seconds since 1970 by the local clock.
    func second(of year: Int) -> Int64 {
        switch form {
        case .day(let day): Self.first(year, 1) + Int64(day) * 86_400 + seconds
        case .dayWithoutLeap(let day):
            Self.first(year, 1) + seconds
                + Int64(day >= 60 && Self.first(year, 3) - Self.first(year, 2) == 29 * 86_400 ? day : day - 1) * 86_400
        case .weekday(let month, let week, let weekday):
            Self.first(year, month) + seconds + Int64(Self.day(year, month, week, weekday)) * 86_400
        }
    }

    /// Days from the first of the month to that weekday.
    private static func day(_ year: Int, _ month: Int, _ week: Int, _ weekday: Int) -> Int {
        let first = first(year, month)
        // 1970-01-01 was a Thursday.
        let day = (weekday - Int(first / 86_400) - 4) % 7
        let earliest = (day + 7) % 7
        let length = Int(Self.first(year, month + 1) - first) / 86_400
        let wanted = earliest + (week - 1) * 7
        return wanted < length ? wanted : wanted - 7
    }

    private static func first(_ year: Int, _ month: Int) -> Int64 {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), 1)
        return Int64(timegm(&parts))
    }
}

/// Parses the parts of a rule one after the other.
private struct RuleReader {
    private var text: Substring

    init(_ text: String) { self.text = text[...] }

    var isAtEnd: Bool { text.isEmpty }

    func isAt(_ mark: Character) -> Bool { text.first == mark }

    /// Skips a name such as `CEST` or `<+03>`.
    mutating func name() -> Bool {
        if take("<") {
            text = text.drop { $0 != ">" }
            return take(">")
        }
        let length = text.prefix(while: \.isLetter).count
        text = text.dropFirst(length)
        return length >= 3
    }

    /// Parses `[+-]h[:m[:s]]` as seconds.
    mutating func time() -> Int64? {
        let sign: Int64 = take("-") ? -1 : 1
        if sign == 1 { _ = take("+") }
        guard let hours = number() else { return nil }
        var seconds = hours * 3600
        for unit: Int64 in [60, 1] where take(":") {
            guard let part = number() else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// Parses `,M3.5.0/2`, `,J60` or `,59`; the default time is 2:00.
    mutating func day() -> YearlyDay? {
        guard take(",") else { return nil }
        let form: YearlyDay.Form
        if take("M") {
            guard let month = number(), take("."), let week = number(), take("."), let day = number(),
                (1...12).contains(month), (1...5).contains(week), (0...6).contains(day)
            else { return nil }
            form = .weekday(month: Int(month), week: Int(week), day: Int(day))
        } else if take("J") {
            guard let day = number(), (1...365).contains(day) else { return nil }
            form = .dayWithoutLeap(Int(day))
        } else {
            guard let day = number(), (0...365).contains(day) else { return nil }
            form = .day(Int(day))
        }
        guard take("/") else { return YearlyDay(form: form, seconds: 7200) }
        return time().map { YearlyDay(form: form, seconds: $0) }
    }

    private mutating func take(_ mark: Character) -> Bool {
        guard isAt(mark) else { return false }
        text = text.dropFirst()
        return true
    }

    private mutating func number() -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        text = text.dropFirst(digits.count)
        return digits.count <= 4 ? Int64(digits) : nil
    }
}
