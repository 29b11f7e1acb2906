package import JobSchema
package import MediaTypes

/// The messages from the worker to `respool-transcode`.
package enum TranscodeOrder: Codable, Sendable {
    /// The first message, sent once.
    case hello(version: Int, policy: TranscodePolicy)
    /// `threads` is the number of cores that the conversion may use, unless the plan has one.
    case convert(ConversionPlan, threads: Int)
    /// Changes that number while a conversion runs. One that arrives later has no effect.
    case threads(Int)
    case probe(ProbeSettings)
}

/// The messages from `respool-transcode` to the worker; after `converted`, `probed` or `failed` it waits for the next
/// order.
///
/// The process parses untrusted bytes, so the worker does not trust its messages; the `checked` functions validate
/// them.
package enum TranscodeReport: Codable, Sendable {
    /// `unconfined` are the features that the kernel lacks to confine the child.
    case hello(version: Int, unconfined: [SandboxPart])
    /// Sent at least once a second while a job runs, even while it waits for bytes.
    case progress(Progress)
    /// One output is complete and was verified by reading it back.
    case output(Int, OutputMeasurement)
    /// One output has failed or is skipped.
    case outputFailed(Int, Failure)
    /// Every output was reported.
    case converted
    /// The description of the source, as JSON.
    case probed(String)
    case failed(Failure)
    /// A line that libav logged, sent at once so that it is not lost in a crash; their size per job is limited.
    case log(String)
}

/// Limits of `respool-transcode`.
package struct TranscodePolicy: Codable, Hashable, Sendable {
    /// Bytes of address space.
    package var memoryLimit: UInt64 = 4 << 30
    /// Bytes.
    package var maxOutputBytes: Int64 = 20 << 30
    /// The limits for sources.
    package var source = SourceLimits()

    package init() {}
}
