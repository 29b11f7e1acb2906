package import JobSchema
import Redis

/// Checked jobs as arguments of the `enqueue` script, split into batches within its bounds.
package struct EnqueueBatches: Sendable {
    private(set) var batches: [EnqueueBatch] = []
    /// The groups of the jobs, each with its first job and the number of its jobs.
    private(set) var groups: [String: (first: Int, count: Int)] = [:]
    let nonce: String

    /// Enqueueing again with the same nonce (at least 8 characters) pushes no job twice.
    package init(_ jobs: [JobSpec], nonce: String = Nonce.random()) {
        self.nonce = nonce
        for (index, job) in jobs.enumerated() {
            if let group = job.group {
                groups[group] = (groups[group]?.first ?? index, (groups[group]?.count ?? 0) + 1)
            }
            if batches.last?.hasRoom(for: job) != true { batches.append(EnqueueBatch(nonce: nonce, first: index)) }
            batches[batches.count - 1].append(job)
        }
    }
}

/// The jobs of one call of the `enqueue` script.
struct EnqueueBatch: Sendable {
    private(set) var arguments: [RedisArgument]
    private(set) var count = 0
    private var bytes = 0
    private let nonce: String
    private let first: Int

    init(nonce: String, first: Int) {
        self.nonce = nonce
        self.first = first
        arguments = [.text(nonce), .integer(Int64(first))]
    }

    func hasRoom(for job: JobSpec) -> Bool { count < 128 && bytes < 256 << 10 }

    mutating func append(_ job: JobSpec) {
        let text = SpecText.encode(job.fields)
        arguments.append(.bytes(text))
        arguments.append(.text(JobOptions.pack(job)))
        count += 1
        bytes += text.count
    }

    /// The ids of the jobs; throws the script's message if it refused a job, and with it the whole batch.
    func enqueued(_ answer: ScriptAnswer) throws(QueueError) -> [Enqueued] {
        let text = try answer.text()
        if Self.isRefusal(answer.value) { throw try refusal(answer, text) }
        let words = text.split(separator: " ")
        let stem = "\(words[0])-\(nonce.prefix(8))"
        var jobs = (first..<first + count).map { Enqueued(id: stem + String($0), isDuplicate: false) }
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[0]), jobs.indices.contains(number - 1) else {
                throw answer.unexpected
            }
            jobs[number - 1] = Enqueued(id: String(parts[1]), isDuplicate: true)
        }
        return jobs
    }

    static func isRefusal(_ value: RedisValue) -> Bool { value.string?.hasPrefix("!") == true }

    private func refusal(_ answer: ScriptAnswer, _ text: String) throws(QueueError) -> QueueError {
        let words = text.dropFirst().split(separator: " ", maxSplits: 2)
        guard words.count == 3, let index = Int(words[0]), let refused = Int(words[1]) else { throw answer.unexpected }
        let others = refused == 1 ? "" : " (rejects \(refused) of these \(count) jobs)"
        return .invalidJob(index: first + index, Failure(.invalidRequest, words[2] + others))
    }
}
