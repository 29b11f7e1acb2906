import JobSchema
import Redis

extension JobQueue {
    /// Cancels jobs: waiting ones at once, running ones through their worker.
    package func cancel(_ ids: [String]) async throws(QueueError) -> [CancelAnswer] {
        var answers: [CancelAnswer] = []
        while answers.count < ids.count {
            let chunk = ids[answers.count...].prefix(Self.bulk)
            let answer = try await run(QueueScript.cancel, chunk.map { .text($0) })
            let parts = try answer.array()
            guard (1...chunk.count).contains(parts.count) else { throw answer.unexpected }
            for part in parts { answers.append(try Self.cancelAnswer(part)) }
        }
        return answers
    }

    /// Restarts failed and cancelled jobs with changed fields; an empty value removes a field.
    package func retry(_ ids: [String], changes: [String: String] = [:]) async throws(QueueError) -> [RetryAnswer] {
        var answers: [RetryAnswer] = []
        for chunk in ids.chunks(of: Self.bulk) { answers += try await retryChunk(chunk, changes) }
        return answers
    }

    /// Fields that a retry cannot change: they relate the job to others, or determine when it may run.
    package static let unchangeable: Set<String> = ["dedup", "group", "delay", "not_before", "expires", "deadline"]

    /// Pauses claims; running jobs continue.
    package func pause() async throws(QueueError) { _ = try await run(QueueScript.pause, ["1"]) }

    /// Resumes claims of the queue's jobs.
    package func resume() async throws(QueueError) { _ = try await run(QueueScript.pause, ["0"]) }

    /// Deletes up to 500 jobs in a state and returns how many, 0 only if there are none. `running` ones are never
    /// deleted.
    package func purge(_ state: JobState) async throws(QueueError) -> Int {
        while true {
            let arguments: [RedisArgument] = [.text(state.rawValue), .integer(Int64(Self.bulk))]
            let parts = try await run(QueueScript.purge, arguments).array(count: 2)
            let (count, hasMore) = (try parts[0].integer(), try parts[1].integer() == 1)
            // The deleted entries may not have been jobs.
            if count > 0 || !hasMore { return count }
        }
    }

    /// Deletes a job that is not running. One that is still in the inbox is admitted first; behind very many others it stays
    /// there, and the answer is its state `queued`.
    package func remove(_ id: String) async throws(QueueError) -> RemoveAnswer {
        for _ in 0..<8 {
            let answer = try await run(QueueScript.purge, ["job", .text(id)])
            switch try answer.text() {
            case "removed": return .removed
            case "unknown":
                // An alias is no job of its own. A job that was admitted in between is known next time.
                guard try await jobs([id])[0]?.id == id else { return .unknown }
                try await runMaintenance()
            case let text:
                guard let state = JobState(rawValue: text) else { throw answer.unexpected }
                return .wrongState(state)
            }
        }
        return .wrongState(.queued)
    }

    private static var bulk: Int { 500 }

    private static func cancelAnswer(_ part: ScriptAnswer) throws(QueueError) -> CancelAnswer {
        switch try part.text() {
        case "cancelled": return .cancelled
        case "requested": return .requested
        case "unknown": return .unknown
        case let text:
            guard text.hasPrefix("too late "), let state = JobState(rawValue: String(text.dropFirst(9))) else {
                throw part.unexpected
            }
            return .tooLate(state)
        }
    }

    /// Checks the specs by the current rules, and retries the valid jobs.
    private func retryChunk(
        _ ids: [String], _ changes: [String: String]
    ) async throws(QueueError) -> [RetryAnswer] {
        let records = try await rawJobs(ids)
        var answers: [RetryAnswer] = []
        var batches = [RetryBatch()]
        for (index, record) in records.enumerated() {
            answers.append(.unknown)
            guard let record, record.state == .failed || record.state == .cancelled else {
                if let record { answers[index] = .wrongState(record.state) }
                continue
            }
            if let group = record.fields["group"], KeyName.isValid(group), record.hash["group"] == nil {
                let refusal = "the job was not admitted to the group `\(group)` and cannot run in it: enqueue it again"
                answers[index] = .invalid(Failure(.invalidRequest, refusal))
                continue
            }
            do throws(Failure) {
                if let name = changes.keys.first(where: { JobField.named($0) == nil && record.fields[$0] == nil }) {
                    throw Failure(.invalidRequest, "the job has no field `\(name)`, and no field has that name")
                }
                let spec = try JobSpec(fields: record.fields.merging(changes) { $1 }.filter { changes[$0.key] != "" })
                if !batches[batches.count - 1].hasRoom { batches.append(RetryBatch()) }
                batches[batches.count - 1].append(index, ids[index], spec)
            } catch {
                answers[index] = .invalid(error)
            }
        }
        for batch in batches where !batch.indices.isEmpty {
            let parts = try await run(QueueScript.retry, batch.arguments).array(count: batch.indices.count)
            for (index, part) in zip(batch.indices, parts) { answers[index] = try Self.retryAnswer(part) }
        }
        return answers
    }

    private static func retryAnswer(_ part: ScriptAnswer) throws(QueueError) -> RetryAnswer {
        let words = try part.text().split(separator: " ").map(String.init)
        switch words.first {
        case "retried": return .retried
        case "unknown": return .unknown
        case "cut":
            return .invalid(
                Failure(
                    .invalidRequest,
                    "the job's fields were too large or unreadable, and were not stored: enqueue it again"))
        case "held" where words.count == 2: return .dedupHeld(by: words[1])
        case "state" where words.count == 2:
            guard let state = JobState(rawValue: words[1]) else { throw part.unexpected }
            return .wrongState(state)
        default: throw part.unexpected
        }
    }
}

/// The jobs of one call of the `retry` script.
private struct RetryBatch {
    private(set) var indices: [Int] = []
    private(set) var arguments: [RedisArgument] = []
    private var bytes = 0

    var hasRoom: Bool { bytes < 256 << 10 }

    /// Adds a job with its spec and all options that the queue uses: an older script that admitted the job may not have
    /// stored some of them.
    mutating func append(_ index: Int, _ id: String, _ spec: JobSpec) {
        let text = SpecText.encode(spec.fields)
        indices.append(index)
        arguments += [.text(id), .bytes(text), .text(JobOptions.pack(spec))]
        bytes += text.count
    }
}

extension Array {
    func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
