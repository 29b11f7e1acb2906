package import SlotProtocol

/// Where an output goes that does not stay on this machine.
package enum RemotePlace: Hashable, Sendable {
    case object(S3Object)

    /// The place that an output's text names; nothing if it names one of this machine.
    package init?(_ output: String?, defaultName: String) throws(Failure) {
        guard var text = output, text.prefix(5).lowercased() == "s3://" else { return nil }
        if text.hasSuffix("/") { text += Destination.sanitized(defaultName) }
        self = try .object(S3Object(text, noun: "output"))
    }

    /// What is shown of it, and written down.
    package var text: String {
        switch self {
        case .object(let object): object.text
        }
    }
}
