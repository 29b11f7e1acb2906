package import JobSchema
package import MediaTypes

/// What the worker tells `respool-transfer`.
package enum TransferOrder: Codable, Sendable {
    /// The first message, once: what this child may touch.
    case hello(version: Int, policy: TransferPolicy)
    /// A new job. A descriptor with it is where the output is written when it is published (`output` is then `-`).
    case job(TransferJob)
    /// Makes the staged outputs of the job visible, in their order.
    case publish
    /// Removes what an earlier owner of the job with that id left, or finds that it is already published. Sent outside a job.
    case recoverCommit(CommitRecord, job: String)
    /// The job is over, whatever came of it: everything of it is released.
    case end
}

/// What `respool-transfer` tells the worker.
package enum TransferReport: Codable, Sendable {
    /// `unconfined` is what the kernel lacks to confine the child.
    case hello(version: Int, unconfined: [SandboxPart])
    /// The source waits for other jobs that fetch it, or from its host; or does so no more.
    case waiting(Bool)
    /// One output is on its way to where it waits, and must be taken back by who finds it there.
    case uploading(Int, StagedOutput)
    /// One output is complete, on disk or at its store, and summed; nothing of it is visible yet.
    case staged(Int, StagedOutput)
    /// One output could not be staged, or not be published while others were.
    case outputFailed(Int, Failure)
    /// One output is not made, because something is at this place that is to stay.
    case outputSkipped(Int, location: String)
    /// Which outputs are skipped is known; told before a source is opened for a job that may skip some.
    case checked
    /// The outputs are still being made visible, or after `end` taken back.
    case publishing
    /// Every output that did not fail is visible; those at a store have a tag.
    case published(etags: [Int: String])
    case commitRecovered(RecoveredCommit)
    /// The job cannot go on; the answer to `publish` when nothing is visible.
    case failed(Failure)
    /// The other child did what none does that is in order: the job fails with this, and the pair is to be replaced.
    case violation(Failure)
    /// The answer to `end`: why something of the job may be left at a store, and what the other child did that none does that is
    /// in order, so that the pair is to be replaced.
    case ended(leftBehind: Failure?, violation: Failure?)
}

/// A job as `respool-transfer` sees it.
package struct TransferJob: Codable, Sendable {
    package var id: String
    /// What staged names are made from, so that two owners of a job never share one.
    package var token: String
    package var source: String
    package var access: SourceAccess
    /// None for a probe.
    package var outputs: [Output]
    /// Whether all outputs are to appear, or none.
    package var isAtomic: Bool
    /// When the job was made, in ms since 1970, if earlier attempts of it may have left something.
    package var start: Int64?

    package init(
        id: String, token: String, source: String, access: SourceAccess = SourceAccess(), outputs: [Output],
        isAtomic: Bool = false, start: Int64? = nil
    ) {
        self.id = id
        self.token = token
        self.source = source
        self.access = access
        self.outputs = outputs
        self.isAtomic = isAtomic
        self.start = start
    }

    /// Where a result goes.
    package struct Output: Codable, Hashable, Sendable {
        /// A path under the output root, an absolute path, a `file`, `s3`, `https` or `http` URL, or `-` for the descriptor that came with the job.
        package var location: String?
        /// The name of the output when `place` is nothing else but a folder, or not given: `<job id>.<ext>`.
        package var defaultName: String
        package var delivery: Delivery
        /// The files that it may have beside its main one; no others are written, whatever the other child asks for.
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

/// An output that waits to be published.
package struct StagedOutput: Codable, Hashable, Sendable {
    package var destination: String
    package var staged: String
    package var bytes: Int64
    /// Lowercase hexadecimal.
    package var sha256: String
    /// What the main file is known by in its file system, where it is in one.
    package var identity: String?
    /// The files beside the main one.
    package var parts: [PartNames] = []
    package var partsReport: PartsReport?

    package init(destination: String, staged: String, bytes: Int64, sha256: String) {
        self.destination = destination
        self.staged = staged
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// What became of an earlier owner's outputs.
package enum RecoveredCommit: String, Codable, Sendable {
    /// Every destination holds what the record says and nothing staged is left: the job is done.
    case published
    /// What was staged is removed, and the job must run again.
    case removed
}
