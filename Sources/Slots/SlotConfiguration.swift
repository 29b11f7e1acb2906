package import SlotIPC

/// The configuration of slots, and what their jobs may access.
package struct SlotConfiguration: Sendable {
    /// What `respool-transfer` may reach and write.
    package var policy: TransferPolicy
    /// The limits of `respool-transcode`.
    package var transcode: TranscodePolicy
    /// The timeout after which a transcoder that sends nothing is killed.
    package var silence: Duration
    /// The number of jobs after which a pair is replaced; `nil` for never.
    package var jobsPerPair: Int?
    /// Which jobs share a pair; `nil` for all.
    package var pairScope: PairScope?
    /// Whether a slot may start if the kernel cannot confine its children.
    package var sandbox = SandboxMode.on
    /// How long the file system of a folder of jobs may take to respond until it counts as unusable.
    package var folderTimeout: Duration = .seconds(30)
    /// A descriptor that `respool-transfer` gets as `ChildDescriptor.source`; the caller keeps it open.
    package var sourceDescriptor: CInt?
    /// The cores that all conversions of this process share.
    package var cores = CoreBudget(cores: CoreBudget.available)

    package init(
        policy: TransferPolicy = TransferPolicy(), transcode: TranscodePolicy = TranscodePolicy(),
        silence: Duration = .seconds(30), jobsPerPair: Int? = 1000
    ) {
        self.policy = policy
        self.transcode = transcode
        self.silence = silence
        self.jobsPerPair = jobsPerPair
    }
}
