package import JobSchema
package import MediaTypes

/// The messages from the worker to `respool-transfer`.
package enum TransferOrder: Codable, Sendable {
    /// The first message, sent once: what this child may access.
    case hello(version: Int, policy: TransferPolicy)
    /// Starts a job. A passed descriptor is the source if `isSourcePassed`; otherwise the output is written to it when it
    /// is published (`output` is then `-`).
    case job(TransferJob)
    /// Starts a job before it begins: its source is fetched, but no request of the transcoder is read.
    case prefetch(TransferJob)
    /// Begins the job that was started by `prefetch`.
    case begin
    /// Publishes the staged outputs of the job, in their order.
    case publish
    /// Removes what an earlier owner of the job left, or finds that it was already published. Sent between jobs.
    case recoverCommit(CommitRecord, job: String)
    /// Ends the job, whatever its outcome, and releases all its resources.
    case end
}

/// The messages from `respool-transfer` to the worker.
package enum TransferReport: Codable, Sendable {
    /// `unconfined` are the features that the kernel lacks to confine the child.
    case hello(version: Int, unconfined: [SandboxPart])
    /// Whether the source waits for other jobs that fetch it, or for a permit of its host.
    case waiting(Bool)
    /// One output is being uploaded to its staging location; the next owner that recovers the job must remove it there.
    case uploading(Int, StagedOutput)
    /// One output is complete on disk or in its store, and its digest is computed; nothing of it is visible yet.
    case staged(Int, StagedOutput)
    /// One output could not be staged, or could not be published while others were.
    case outputFailed(Int, Failure)
    /// One output is skipped, because its location has a file that must be kept.
    case outputSkipped(Int, location: String)
    /// It is known which outputs are skipped. Sent before a source is opened, for a job that may skip some.
    case checked
    /// The outputs are still being published, or after `end` removed.
    case publishing
    /// Every output that did not fail is visible; those in a store have an ETag.
    case published(etags: [Int: String])
    case commitRecovered(RecoveredCommit)
    /// The job cannot continue; as the reply to `publish`, nothing is visible.
    case failed(Failure)
    /// The other child violated the protocol: the job fails with this failure, and the pair must be replaced.
    case violation(Failure)
    /// The reply to `end`: why something of the job may remain in a store, and a protocol violation of the other child,
    /// after which the pair must be replaced. `source` is `nil` if no source was opened.
    case ended(leftBehind: Failure?, violation: Failure?, source: SourceUse?)
}

/// The parts of a job that `respool-transfer` needs.
package struct TransferJob: Codable, Sendable {
    /// The job's id, which is part of default names.
    package var id: String
    /// Part of staged names, so that two owners of a job never use the same one.
    package var token: String
    /// The URL or path of the source.
    package var sourceURL: String
    /// The credentials and headers for the source's server.
    package var access: SourceAccess
    /// Empty for a probe.
    package var outputs: [Output]
    /// Whether either all outputs are published or none.
    package var isAtomic: Bool
    /// When the job was created, in ms since 1970, if earlier attempts of it may have left something.
    package var start: Int64?
    /// Whether the source is the file whose descriptor is passed with the job.
    package var isSourcePassed: Bool

    package init(
        id: String, token: String, sourceURL: String, access: SourceAccess = SourceAccess(), outputs: [Output],
        isAtomic: Bool = false, start: Int64? = nil, isSourcePassed: Bool = false
    ) {
        self.id = id
        self.token = token
        self.sourceURL = sourceURL
        self.access = access
        self.outputs = outputs
        self.isAtomic = isAtomic
        self.start = start
        self.isSourcePassed = isSourcePassed
    }

    /// The destination of a result.
    package struct Output: Codable, Hashable, Sendable {
        /// A path under the output root, an absolute path, a `file`, `s3`, `https` or `http` URL, or `-` for the
        /// descriptor that was passed with the job.
        package var location: String?
        /// The name of the output if `location` is `nil` or a folder: `<job id>.<ext>`.
        package var defaultName: String
        /// How the output is sent to its location.
        package var delivery: Delivery
        /// The additional files that the output may have; no others are written, whatever the other child requests.
        package var parts: [PartPattern]

        package init(
            _ location: String?, defaultName: String, delivery: Delivery = Delivery(), parts: [PartPattern] = []
        ) {
            self.location = location
            self.defaultName = defaultName
            self.delivery = delivery
            self.parts = parts
        }
    }
}

/// A staged output, ready to be published.
package struct StagedOutput: Codable, Hashable, Sendable {
    /// Absolute path or URL of the destination.
    package var destination: String
    /// The absolute path of the staged file, or the id of an upload.
    package var staged: String
    /// The size of the main file.
    package var bytes: Int64
    /// Lowercase hexadecimal.
    package var sha256: String
    /// The main file's identity in its file system, if it is in one.
    package var identity: String?
    /// The additional files.
    package var parts: [PartNames] = []
    /// The sizes and digests of the additional files.
    package var partsReport: PartsReport?

    package init(destination: String, staged: String, bytes: Int64, sha256: String) {
        self.destination = destination
        self.staged = staged
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// What a job took of its source, for metrics.
package struct SourceUse: Codable, Hashable, Sendable {
    /// The size of a file, or the bytes that were received from servers, those of segments included.
    package var bytes: Int64
    /// Seconds in which a request for the source ran; `nil` for a file.
    package var fetchSeconds: Double?
    /// Whether the cache had the source; `nil` without a cache.
    package var isCached: Bool?
    /// When the first request began and the last one ended, in nanoseconds since 1970.
    package var fetched: ClosedRange<Int64>?

    package init(
        bytes: Int64, fetchSeconds: Double? = nil, isCached: Bool? = nil, fetched: ClosedRange<Int64>? = nil
    ) {
        self.bytes = bytes
        self.fetchSeconds = fetchSeconds
        self.isCached = isCached
        self.fetched = fetched
    }
}

/// The result of recovering an earlier owner's outputs.
package enum RecoveredCommit: String, Codable, Sendable {
    /// Every destination has the content in the record and no staged data is left: the job is complete.
    case published
    /// The staged data was removed, and the job must run again.
    case removed
}
