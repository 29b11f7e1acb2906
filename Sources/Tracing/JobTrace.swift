import Crypto
package import JobSchema

/// The trace that a job belongs to. Every worker derives the same ids from the job, so spans of all its attempts, and its callback,
/// refer to one span of the job.
package struct JobTrace: Sendable, Hashable {
    /// That of the field `traceparent`, or one of its own.
    package let traceID: String
    /// The id of the job's own span.
    package let spanID: String
    /// The span of the program that pushed the job.
    package let parent: TraceParent?

    /// The trace of a job of a queue.
    package init(queue: String, job: String, parent: TraceParent?) {
        let digest = Digest.of(Array("respool trace\n\(queue)\n\(job)".utf8))
        traceID = parent?.traceID ?? String(digest.prefix(32))
        spanID = String(digest.suffix(16))
        self.parent = parent
    }

    /// What a request that the job causes has as its `traceparent`.
    package var traceParent: TraceParent { TraceParent(traceID: traceID, spanID: spanID, flags: 1) }
}
