package import JobSchema
package import MediaTypes

/// What the worker tells `respool-transcode`.
package enum TranscodeOrder: Codable, Sendable {
    /// The first message, once.
    case hello(version: Int, policy: TranscodePolicy)
    case convert(ConversionPlan)
    case probe(ProbeSettings)
}

/// What `respool-transcode` tells the worker; after `converted`, `probed` or `failed` it waits for the next order.
///
/// It parses strangers' bytes, so that the worker takes it for nothing but the child's word: whatever is checked is in
/// `checked`.
package enum TranscodeReport: Codable, Sendable {
    /// `unconfined` is what the kernel lacks to confine the child.
    case hello(version: Int, unconfined: [SandboxPart])
    /// Sent at least once a second while a job runs, also while it waits for bytes.
    case progress(Progress)
    /// One output is complete and was read back.
    case output(Int, OutputMeasurement)
    /// One output has failed, or is skipped.
    case outputFailed(Int, Failure)
    /// Every output was told.
    case converted
    /// What the source is, as JSON.
    case probed(String)
    case failed(Failure)
    /// A line that libav logged, sent at once so that a crash cannot take it along; bounded a job.
    case log(String)
}

/// Limits of `respool-transcode`.
package struct TranscodePolicy: Codable, Hashable, Sendable {
    /// Bytes of address space.
    package var memoryLimit: UInt64 = 4 << 30
    /// Bytes.
    package var maxOutputBytes: Int64 = 20 << 30
    package var source = SourceLimits()

    package init() {}
}
