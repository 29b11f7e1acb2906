package import JobSchema
package import SlotIPC

/// Where an output goes: a file of this machine, or an object of a store.
package enum OutputLocation {
    case local(Destination)
    case remote(RemoteLocation)

    /// Finds the location by name alone; nothing is touched.
    package init(_ output: TransferJob.Output, policy: TransferPolicy) throws(Failure) {
        if let location = try RemoteLocation(output) {
            self = .remote(location)
        } else {
            self = .local(try Destination(output.location, defaultName: output.defaultName, policy: policy))
        }
    }

    /// The absolute path, or the URL with its secrets.
    package var text: String {
        switch self {
        case .local(let destination): destination.path
        case .remote(let location): location.text
        }
    }

    /// Likewise without them.
    package var name: String {
        switch self {
        case .local(let destination): destination.path
        case .remote(let location): location.name
        }
    }

    /// The location of a part, likewise with its secrets.
    package func text(ofPart suffix: String, token: String) throws(Failure) -> String {
        switch self {
        case .local(let destination): try destination.part(destination.partName(suffix, token: token)).path
        case .remote(let location): try location.part(suffix, token: token).location.text
        }
    }

    /// Checks what can be known of it before any work is done.
    package func check(_ client: HTTPClient) throws(Failure) {
        switch self {
        case .local(let destination): try destination.check()
        case .remote(let location):
            do throws(Failure) { _ = try location.target(client) } catch { throw error.asOutput }
        }
    }
}
