package import JobSchema
package import MediaTypes
package import SlotIPC

/// One conversion for a slot.
package struct SlotTask: Sendable {
    /// The job's id, which is part of default names.
    package var id: String
    /// Part of staged names; different for every attempt.
    package var token: String
    /// The URL or path of the source.
    package var sourceURL: String
    /// The credentials and headers for the source's server.
    package var access: SourceAccess
    /// The parts of the source to read, and the outputs to make of them.
    package var plan: ConversionPlan
    /// The location of each rendition's result: a path under the output root or the granted one, `-` for
    /// `outputDescriptor`, or `nil` for the default name.
    package var outputs: [TransferJob.Output]
    /// Borrowed until the conversion is published.
    package var outputDescriptor: CInt?
    /// The open file of the source, borrowed until the conversion has begun; `nil` if `respool-transfer` opens the source.
    /// Not used together with `outputDescriptor`.
    package var sourceDescriptor: CInt?
    /// The tenant of the job, if children are not shared by all jobs.
    package var tenant: String?
    /// When the job was created, in ms since 1970, if earlier attempts of it may have left something.
    package var start: Int64?

    package init(
        id: String, token: String, sourceURL: String, access: SourceAccess = SourceAccess(), plan: ConversionPlan,
        outputs: [TransferJob.Output],
        outputDescriptor: CInt? = nil, sourceDescriptor: CInt? = nil, tenant: String? = nil, start: Int64? = nil
    ) {
        self.id = id
        self.token = token
        self.sourceURL = sourceURL
        self.access = access
        self.plan = plan
        self.outputs = outputs
        self.outputDescriptor = outputDescriptor
        self.sourceDescriptor = sourceDescriptor
        self.tenant = tenant
        self.start = start
    }
}

extension SlotTask {
    /// The part of the task for `respool-transfer`.
    var transferJob: TransferJob {
        var outputs = outputs
        for (index, rendition) in zip(outputs.indices, plan.renditions) {
            outputs[index].parts = rendition.partPatterns
        }
        return TransferJob(
            id: id, token: token, sourceURL: sourceURL, access: access, outputs: outputs, isAtomic: plan.isAtomic,
            start: start, isSourcePassed: sourceDescriptor != nil)
    }
}
