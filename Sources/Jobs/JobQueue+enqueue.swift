import Lifecycle
import Redis
package import SlotProtocol

extension JobQueue {
    /// Pushes one job by way of the inbox, as anybody does, and answers its id: the cheapest way, but a call that is
    /// repeated after a lost reply pushes twice.
    package func push(_ fields: [String: String]) async throws(QueueError) -> String {
        _ = try Self.checked(fields, 0)
        var command: RedisCommand = ["XADD", .text(keys.inbox), "*"]
        for (name, value) in fields {
            command.append(name)
            command.append(value)
        }
        return try await ScriptAnswer(script: "XADD", value: send([command])[0]).text()
    }

    /// Pushes jobs; if one is not valid, none. Repeated with the same nonce (8 characters or more), answers the same ids.
    package func enqueue(
        _ specs: [[String: String]], nonce: String = Nonce.random()
    ) async throws(QueueError) -> [Enqueued] {
        var jobs: [JobSpec] = []
        for (index, fields) in specs.enumerated() { jobs.append(try Self.checked(fields, index)) }
        return try await enqueue(jobs, nonce: nonce)
    }

    /// The same with jobs that are checked.
    ///
    /// More than fit one script go in several, and a failure between them leaves the first ones pushed.
    package func enqueue(_ jobs: [JobSpec], nonce: String) async throws(QueueError) -> [Enqueued] {
        var batches: [EnqueueBatch] = []
        for (index, job) in jobs.enumerated() {
            if batches.last?.hasRoom(for: job) != true { batches.append(EnqueueBatch(nonce: nonce, first: index)) }
            batches[batches.count - 1].append(job)
        }
        var answers: [Enqueued] = []
        answers.reserveCapacity(jobs.count)
        for batch in batches {
            let answer = try await run(QueueScript.enqueue, batch.arguments)
            let ids = try answer.array()
            try batch.check(ids)
            guard ids.count == batch.count else { throw answer.unexpected }
            for id in ids {
                let text = try id.text()
                let isDuplicate = text.hasPrefix("=")
                answers.append(Enqueued(id: isDuplicate ? String(text.dropFirst()) : text, isDuplicate: isDuplicate))
            }
        }
        return answers
    }

    private static func checked(_ fields: [String: String], _ index: Int) throws(QueueError) -> JobSpec {
        do throws(Failure) {
            return try JobSpec(fields: fields)
        } catch {
            throw .invalidJob(index: index, error)
        }
    }
}

/// The jobs of one `enqueue` script.
private struct EnqueueBatch {
    private(set) var arguments: [RedisArgument]
    private(set) var count = 0
    private var bytes = 0
    private let first: Int

    init(nonce: String, first: Int) {
        self.first = first
        arguments = [.text(nonce), .integer(Int64(first))]
    }

    func hasRoom(for job: JobSpec) -> Bool { count < 128 && bytes < 256 << 10 }

    mutating func append(_ job: JobSpec) {
        let text = SpecText.encode(job.fields)
        arguments.append(.bytes(text))
        arguments.append(.text(Self.options(job)))
        arguments.append(.text(job.dedup ?? ""))
        count += 1
        bytes += text.count
    }

    /// Throws what the script says of a job that it refuses, and with it the whole batch.
    func check(_ answer: [ScriptAnswer]) throws(QueueError) {
        guard answer.count == 2, let mark = answer[0].value.string, mark.hasPrefix("!") else { return }
        let numbers = mark.dropFirst().split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2 else { throw answer[0].unexpected }
        let why = try answer[1].text()
        let others = numbers[1] == 1 ? "" : " (it refuses \(numbers[1]) of these \(count) jobs)"
        throw .invalidJob(index: first + numbers[0], Failure(.invalidRequest, why + others))
    }

    private static func options(_ job: JobSpec) -> String {
        if job.priority == .normal, job.start == nil, job.expires == nil, job.fields["attempts"] == nil,
            job.group == nil, job.limitKey == nil, job.deadline == nil
        {
            return ""
        }
        return [
            "\(job.priority.rawValue)", "\(job.attempts)", moment(job.start), moment(job.expires), job.group ?? "*",
            job.limitKey ?? "*", moment(job.deadline),
        ].joined(separator: " ")
    }

    private static func moment(_ moment: JobSpec.Moment?) -> String {
        switch moment {
        case nil: "*"
        case .after(let delay): "+\(delay.milliseconds)"
        case .at(let instant): "@\(max(0, instant))"
        }
    }
}
