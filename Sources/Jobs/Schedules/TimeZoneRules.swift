/// The local clock of a time zone: its offset from UTC, and when that changes.
package struct TimeZoneRules: Sendable {
    /// The IANA name, such as `Europe/Berlin`.
    package let name: String
    /// The changes in the file: the offset in seconds from that second of UTC.
    private let changes: [Change]
    /// The offset before the first change.
    private let initial: Int64
    /// The rule after the last change.
    private let rest: YearlyRule

    struct Change {
        let time: Int64
        let offset: Int64
    }

    init(name: String, initial: Int64, changes: [Change], rest: YearlyRule) {
        self.name = name
        self.initial = initial
        self.changes = changes
        self.rest = rest
    }

    /// Coordinated Universal Time, which needs no file.
    package static let utc = TimeZoneRules(name: "UTC", initial: 0, changes: [], rest: YearlyRule("UTC0")!)

    /// The offset from UTC in seconds at a second since 1970.
    func offset(at time: Int64) -> Int64 {
        let later = changes.partitioningIndex { $0.time > time }
        if later == changes.count { return rest.offset(at: time) }
        return later == 0 ? initial : changes[later - 1].offset
    }

    /// The next second at which the offset may change.
    func nextChange(after time: Int64) -> Int64? {
        let later = changes.partitioningIndex { $0.time > time }
        return later < changes.count ? changes[later].time : rest.nextChange(after: time)
    }

    /// When the clock first shows a reading; if it skips the reading, when it does so.
    func moment(showing reading: Int64) -> Int64 {
        var start = reading - 2 * 86_400
        while true {
            let end = nextChange(after: start) ?? .max
            let moment = reading - offset(at: start)
            if moment < end { return max(moment, start) }
            start = end
        }
    }
}

private extension [TimeZoneRules.Change] {
    /// The first index at which the condition holds; it must also hold for all later ones.
    func partitioningIndex(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
