package import MediaTypes
import SlotProtocol

/// One conversion, as a slot runs it.
package struct SlotTask: Sendable {
    package var id: String
    /// What staged names are made from; another for every try.
    package var token: String
    package var source: String
    package var plan: ConversionPlan
    /// A path under the output root or the granted one, `-` for `outputDescriptor`, or nothing for the default name.
    package var output: String?
    package var defaultName: String
    /// Borrowed until the conversion is published.
    package var outputDescriptor: CInt?

    package init(
        id: String, token: String, source: String, plan: ConversionPlan, output: String?, defaultName: String,
        outputDescriptor: CInt? = nil
    ) {
        self.id = id
        self.token = token
        self.source = source
        self.plan = plan
        self.output = output
        self.defaultName = defaultName
        self.outputDescriptor = outputDescriptor
    }
}

extension SlotTask {
    /// The part of the task that moves bytes.
    var transferJob: TransferJob {
        TransferJob(id: id, token: token, source: source, output: output, defaultName: defaultName)
    }
}
