import FoundationEssentials
package import JobSchema
import Redis
import Text

extension JobQueue {
    /// Requests permission to publish and stores the commit record. If replicas are configured, they must have stored
    /// it too.
    package func publish(id: String, token: String, record: CommitRecord) async throws(QueueError) -> PublishAnswer {
        let answer = try await runDurably(
            QueueScript.publish, [.text(id), .text(token), .bytes(Self.bounded(record))]
        ) { $0.string == "OK" }
        return switch try answer.text() {
        case "OK": .ok
        case "CANCELLED": .cancelled
        case "STALE": .stale
        case "EXPIRED": .expired
        default: throw answer.unexpected
        }
    }

    /// Reports that the result of the job's commit record is not visible, and that staged data was removed; returns how
    /// to continue.
    package func recover(id: String, token: String) async throws(QueueError) -> RecoveryAnswer {
        let answer = try await run(QueueScript.recover, [.text(id), .text(token)])
        guard let recovery = RecoveryAnswer(rawValue: try answer.text()) else { throw answer.unexpected }
        return recovery
    }

    /// Finishes the token's attempt, with the last lines of its log (at most 50 lines and 8 KiB are kept).
    package func finish(
        id: String, token: String, outcome: Outcome, log: [String] = []
    ) async throws(QueueError) -> FinishAnswer {
        try await finish([Ending(id: id, token: token, outcome: outcome, log: log)])[0]
    }

    /// Finishes attempts independently of each other, with as many per script call as its bounds allow, because most of
    /// the cost of a call does not depend on their number.
    package func finish(_ endings: [Ending]) async throws(QueueError) -> [FinishAnswer] {
        var answers: [FinishAnswer] = []
        var batch = FinishBatch()
        for (index, ending) in endings.enumerated() {
            batch.append(Self.arguments(ending))
            guard batch.isFull || index == endings.count - 1 else { continue }
            let parts = try await run(QueueScript.finish, batch.arguments).array(count: batch.count)
            for part in parts { answers.append(try Self.answer(part)) }
            batch = FinishBatch()
        }
        return answers
    }

    private static func answer(_ answer: ScriptAnswer) throws(QueueError) -> FinishAnswer {
        let text = try answer.text()
        if let state = JobState(rawValue: text) { return .acknowledged(state, retryAt: nil) }
        if text == "STALE" { return .stale }
        if text == "PUBLISHING" { return .publishing }
        let words = text.split(separator: " ")
        guard words.count == 2, let state = JobState(rawValue: String(words[0])) else { throw answer.unexpected }
        return .acknowledged(state, retryAt: Int64(words[1]))
    }

    private static func arguments(_ ending: Ending) -> [RedisArgument] {
        [.text(ending.id), .text(ending.token)] + arguments(ending.outcome, bounded(ending.log))
    }

    private static func arguments(_ outcome: Outcome, _ log: String) -> [RedisArgument] {
        switch outcome {
        case .completed(let reports):
            ["completed", .text(log), .bytes(bounded(reports)), .integer(milliseconds(reports))]
        case .failed(let failure, let outputs):
            ["failed", .text(log)] + arguments(failure)
                + [.bytes(outputs.isEmpty ? [] : bounded(outputs)), .bytes(failure.fields.map { json($0) } ?? [])]
        case .crashed(let failure): ["crashed", .text(log)] + arguments(failure)
        case .cancelled: ["cancelled", .text(log)]
        case .released: ["released", .text(log)]
        }
    }

    /// The duration of the longest output.
    private static func milliseconds(_ reports: [OutputReport]) -> Int64 {
        let seconds = reports.map(\.duration).filter { $0.isFinite && (0...1e9).contains($0) }.max() ?? 0
        return Int64((seconds * 1000).rounded())
    }

    private static func arguments(_ failure: Failure) -> [RedisArgument] {
        let wait = failure.retryAfter.flatMap { $0.isFinite && $0 >= 0 ? Int64(min($0, 1e6) * 1000) : nil }
        return [
            .text(failure.code.rawValue), .text(failure.message.prefix(utf8Bytes: 1024)),
            failure.retryable ? "1" : "0", .text(wait.map(String.init) ?? ""), .text(String(Double.random(in: 0...1))),
        ]
    }

    /// The last lines of the log that fit.
    private static func bounded(_ log: [String]) -> String {
        var lines: [String] = []
        var room = 8192
        for line in log.suffix(50).reversed() {
            let line = line.split(separator: "\n").joined(separator: " ").prefix(utf8Bytes: 1024)
            room -= line.utf8.count + 1
            guard room >= 0 else { break }
            lines.append(line)
        }
        return lines.reversed().joined(separator: "\n")
    }

    /// The maximum size of a result in bytes.
    private static let maxResultBytes = 256 << 10

    /// Reports as JSON. If they are too large, warnings and settings are removed, then lists, then texts are cut.
    private static func bounded(_ reports: [OutputReport]) -> [UInt8] {
        let whole = json(reports)
        guard whole.count > 64 << 10 else { return whole }
        var reports = reports.map(\.withoutExplanations)
        let plain = json(reports)
        guard plain.count > maxResultBytes else { return plain }
        reports = reports.map(\.withoutLists)
        let brief = json(reports)
        guard brief.count > maxResultBytes else { return brief }
        return json(reports.map(\.withShortTexts))
    }

    /// The record as JSON. If it is too large, warnings, settings and lists are removed from its reports.
    private static func bounded(_ record: CommitRecord) -> [UInt8] {
        let whole = json(record)
        guard whole.count > maxResultBytes else { return whole }
        var record = record
        for index in record.outputs.indices {
            record.outputs[index].report = record.outputs[index].report.withoutExplanations.withoutLists
        }
        return json(record)
    }

    private static func json(_ value: some Encodable) -> [UInt8] {
        (try? encoder.encode(value)).map(Array.init) ?? []
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // The only values of reports that JSON cannot express are numbers that are not finite.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }()
}

extension OutputReport {
    fileprivate var withoutExplanations: OutputReport {
        var report = self
        // The warning of a skipped output is kept: it is the only statement that the output does not exist.
        if !isSkipped { report.warnings = [] }
        report.settings = [:]
        return report
    }

    fileprivate var withoutLists: OutputReport {
        var report = self
        report.titles = nil
        report.parts?.files = []
        return report
    }

    fileprivate var withShortTexts: OutputReport {
        var report = self
        report.url = url.prefix(utf8Bytes: 1024)
        report.codec = codec.prefix(utf8Bytes: 64)
        report.audioMD5 = audioMD5?.prefix(utf8Bytes: 64)
        report.etag = etag?.prefix(utf8Bytes: 256)
        report.error = error.map {
            Failure($0.code, $0.message.prefix(utf8Bytes: 256), retryable: $0.retryable, retryAfter: $0.retryAfter)
        }
        if isSkipped { report = OutputReport(format: format, skippedAt: report.url) }
        return report
    }
}

/// The attempts of one call of the `finish` script.
private struct FinishBatch {
    private(set) var arguments: [RedisArgument] = []
    private(set) var count = 0
    private var bytes = 0

    var isFull: Bool { count == 64 || bytes >= 256 << 10 }

    mutating func append(_ words: [RedisArgument]) {
        arguments.append(.integer(Int64(words.count)))
        arguments.append(contentsOf: words)
        count += 1
        for word in words {
            switch word {
            case .bytes(let word): bytes += word.count
            case .text(let word): bytes += word.utf8.count
            case .integer: break
            }
        }
    }
}
