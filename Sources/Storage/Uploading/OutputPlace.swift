package import JobSchema
package import SlotIPC

/// Where an output goes: a file of this machine, or an object of a store.
package enum OutputPlace {
    case local(Destination)
    case remote(RemotePlace)

    /// Finds the place by name alone; nothing is touched.
    package init(_ output: TransferJob.Output, policy: TransferPolicy) throws(Failure) {
        if let place = try RemotePlace(output) {
            self = .remote(place)
        } else {
            self = .local(try Destination(output.place, defaultName: output.defaultName, policy: policy))
        }
    }

    /// The absolute path, or the URL with its secrets.
    package var text: String {
        switch self {
        case .local(let destination): destination.path
        case .remote(let place): place.text
        }
    }

    /// Likewise without them.
    package var name: String {
        switch self {
        case .local(let destination): destination.path
        case .remote(let place): place.name
        }
    }

    /// The place of a part, likewise with its secrets.
    package func text(ofPart suffix: String, token: String) throws(Failure) -> String {
        switch self {
        case .local(let destination): try destination.part(destination.partName(suffix, token: token)).path
        case .remote(let place): try place.part(suffix, token: token).place.text
        }
    }

    /// Checks what can be known of it before any work is done.
    package func check(_ client: HTTPClient) throws(Failure) {
        switch self {
        case .local(let destination): try destination.check()
        case .remote(let place):
            do throws(Failure) { _ = try place.target(client) } catch { throw error.asOutput }
        }
    }
}
