/// The speed of a group: over the last 30 s of samples, or since its first job started if there are too few.
package struct GroupSpeed {
    private var samples: [GroupRecord]

    /// Begins with one reading, which gives the speed since the group's first job started.
    package init(_ record: GroupRecord) { samples = [record] }

    /// Adds a later reading of the same group.
    package mutating func add(_ record: GroupRecord) {
        samples.append(record)
        let horizon = record.readAt - 30_000
        // Keeps one sample before the horizon, so that the samples cover the whole window.
        while samples.count > 2, samples[1].readAt <= horizon { samples.removeFirst() }
    }

    /// Finished jobs per second.
    package var jobs: Double { rate { Double($0.ran) } }

    /// Seconds of produced audio per second.
    package var audio: Double { rate { $0.audio } }

    /// Seconds until no job is left; `nil` if it cannot be estimated.
    package func timeLeft(_ record: GroupRecord) -> Double? {
        record.left > 0 && jobs > 0 ? Double(record.left) / jobs : nil
    }

    private func rate(_ value: (GroupRecord) -> Double) -> Double {
        let (first, last) = (samples[0], samples[samples.count - 1])
        if !last.isFinished, last.readAt - first.readAt >= 5000, value(last) > value(first) {
            return (value(last) - value(first)) * 1000 / Double(last.readAt - first.readAt)
        }
        guard let start = last.startedAt else { return 0 }
        return value(last) * 1000 / Double(max(1, (last.endedAt ?? last.readAt) - start))
    }
}
