import FoundationEssentials
import JobSchema
import Jobs
import MediaTypes

/// Texts that producers write.
enum TextTarget {
    /// A job as JSON.
    static func job(_ bytes: UnsafeRawBufferPointer) {
        let text = Array(bytes)
        let fields = FlatObject.read(text[...])
        let decoded = try? JSONDecoder().decode([String: String].self, from: Data(text))
        // The quick reader reads nothing else than the decoder does.
        if let fields { precondition(fields == decoded, "two readers of one job read two jobs") }
        guard let decoded, let spec = try? JobSpec(fields: decoded) else { return }
        for index in spec.plan.renditions.indices { _ = spec.defaultName(ofOutput: index, job: "1-0") }
        _ = redactedURL(spec.sourceURL)
    }

    /// Times, instants and times of schedules.
    static func time(_ bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let time = MediaTime(parsing: text) {
            for rate in [1, 44_100, 1_536_000] { _ = time.sampleIndex(rate: rate) }
            _ = (time.text, time.adding(time))
        }
        _ = try? JSONDecoder().decode([MediaTime].self, from: Data("[\"\(text)\"]".utf8)).map { ($0.text, $0.seconds) }
        _ = Instant.milliseconds(parsing: text)
        _ = try? CronExpression(text)
    }
}
