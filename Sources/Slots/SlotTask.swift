package import MediaTypes
package import SlotProtocol

/// One conversion, as a slot runs it.
package struct SlotTask: Sendable {
    package var id: String
    /// What staged names are made from; another for every try.
    package var token: String
    package var source: String
    package var access: SourceAccess
    package var plan: ConversionPlan
    /// Where each rendition's result goes: a path under the output root or the granted one, `-` for `outputDescriptor`, or
    /// nothing for the default name.
    package var outputs: [TransferJob.Output]
    /// Borrowed until the conversion is published.
    package var outputDescriptor: CInt?

    package init(
        id: String, token: String, source: String, access: SourceAccess = SourceAccess(), plan: ConversionPlan,
        outputs: [TransferJob.Output],
        outputDescriptor: CInt? = nil
    ) {
        self.id = id
        self.token = token
        self.source = source
        self.access = access
        self.plan = plan
        self.outputs = outputs
        self.outputDescriptor = outputDescriptor
    }
}

extension SlotTask {
    /// The part of the task that moves bytes.
    var transferJob: TransferJob {
        TransferJob(
            id: id, token: token, source: source, access: access, outputs: outputs, isAtomic: plan.isAtomic)
    }
}
