/// Reads every key of a queue, a page at a time, and names what does not fit together.
package struct QueueAudit: Sendable {
    let queue: JobQueue

    package init(_ queue: JobQueue) { self.queue = queue }

    /// A sentence for each fault of a queue at rest; none for a sound one.
    package func problems() async throws(QueueError) -> [String] {
        var reading = QueueReading(queue)
        try await reading.readAll()
        return reading.suspects.sentences
    }

    /// The same for a queue at work, and what is overdue: what each of three readings names, for a job may move while it
    /// is read.
    package func lastingProblems(pause: Duration = .milliseconds(300)) async throws(QueueError) -> Findings {
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
        return Findings(keys: reading.keyCount, sentences: suspects.sentences)
    }

    /// What three readings agree on.
    package struct Findings: Sendable {
        package let keys: Int
        package let sentences: [String]
    }
}

/// What seems wrong, each with the key that is to be read again to see whether it stays so.
struct SuspectJobs {
    private var byKey: [String: Set<String>] = [:]
    private var overdue: Set<String> = []
    private var count = 0
    private var isCut = false

    /// A queue may be wrong from end to end, and what is said of it must not take the memory that reading it does not.
    static let most = 10_000

    var isEmpty: Bool { byKey.isEmpty && overdue.isEmpty }

    /// The keys in doubt, without the queue's prefix.
    var keys: some Collection<String> { byKey.keys }

    var sentences: [String] {
        let all = Set(byKey.values.joined()).union(overdue).sorted()
        return isCut && !all.isEmpty
            ? all + ["there may be more: these are of the first \(Self.most) that were found"] : all
    }

    mutating func add(_ key: String, _ sentence: String) {
        guard hasRoom() else { return }
        byKey[key, default: []].insert(sentence)
    }

    /// Adds what only time has made wrong.
    mutating func add(overdue sentence: String) {
        guard hasRoom() else { return }
        overdue.insert(sentence)
    }

    /// Leaves what others found too.
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
