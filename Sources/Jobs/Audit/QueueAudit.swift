/// Reads every key of a queue, a page at a time, and reports inconsistencies.
package struct QueueAudit: Sendable {
    let queue: JobQueue

    /// The queue is only read.
    package init(_ queue: JobQueue) { self.queue = queue }

    /// A message for each inconsistency of an idle queue; empty if there is none.
    package func problems() async throws(QueueError) -> [String] {
        var reading = QueueReading(queue)
        try await reading.readAll()
        return reading.suspects.sentences
    }

    /// The inconsistencies of a queue in use, and overdue work. A job may change while it is read, so only problems
    /// found by three readings are reported.
    package func lastingProblems(pause: Duration = .milliseconds(300)) async throws(QueueError) -> Findings {
        let (suspects, keyCount) = try await lastingSuspects(pause: pause)
        return Findings(keys: keyCount, sentences: suspects.sentences)
    }

    /// What three readings found, and the number of keys.
    func lastingSuspects(pause: Duration) async throws(QueueError) -> (SuspectJobs, keyCount: Int) {
        var reading = QueueReading(queue)
        try await reading.readAll()
        try await reading.readOverdue()
        var suspects = reading.suspects
        for _ in 2...3 where !suspects.isEmpty {
            try? await Task.sleep(for: pause)
            var again = QueueReading(queue)
            for keys in Array(suspects.keys).chunks(of: QueueReading.page) { try await again.read(keys) }
            try await again.finish()
            try await again.readOverdue()
            suspects.keep(again.suspects)
        }
        return (suspects, reading.keyCount)
    }

    /// The problems that three readings found.
    package struct Findings: Sendable {
        /// The number of keys that were read.
        package let keys: Int
        /// A message for each problem; empty if there is none.
        package let sentences: [String]
    }
}

/// Suspected problems, each with the key that is read again to confirm it.
struct SuspectJobs {
    private var byKey: [String: Set<String>] = [:]
    private var overdue: Set<String> = []
    private var count = 0
    /// Whether there were more problems than are kept.
    private(set) var isCut = false

    /// The maximum number of problems, which bounds the memory if every key of a queue is inconsistent.
    static let most = 10_000

    var isEmpty: Bool { byKey.isEmpty && overdue.isEmpty }

    /// The suspected keys, without the queue's prefix.
    var keys: some Collection<String> { byKey.keys }

    var sentences: [String] {
        let all = Set(byKey.values.joined()).union(overdue).sorted()
        return isCut && !all.isEmpty
            ? all + ["there may be more findings: only the first \(Self.most) were examined"] : all
    }

    mutating func add(_ key: String, _ sentence: String) {
        guard hasRoom() else { return }
        byKey[key, default: []].insert(sentence)
    }

    /// Adds a problem that consists only in overdue work.
    mutating func add(overdue sentence: String) {
        guard hasRoom() else { return }
        overdue.insert(sentence)
    }

    /// Removes the problems that `others` does not contain.
    mutating func keep(_ others: SuspectJobs) {
        for (key, sentences) in byKey {
            let kept = sentences.intersection(others.byKey[key] ?? [])
            byKey[key] = kept.isEmpty ? nil : kept
        }
        overdue.formIntersection(others.overdue)
    }

    private mutating func hasRoom() -> Bool {
        count += 1
        isCut = count > Self.most
        return !isCut
    }
}
