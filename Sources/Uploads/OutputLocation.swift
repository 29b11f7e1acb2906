package import JobSchema
package import LocalFiles
package import Requests
package import SlotIPC

/// The location of an output: a file on this machine, or a remote location.
package enum OutputLocation {
    case local(Destination)
    case remote(RemoteLocation)

    /// Determines the location from names alone, without any access to it.
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

    /// The absolute path, or the URL without its secrets.
    package var name: String {
        switch self {
        case .local(let destination): destination.path
        case .remote(let location): location.name
        }
    }

    /// The location of a part, with the URL's secrets.
    package func text(ofPart suffix: String, token: String) throws(Failure) -> String {
        switch self {
        case .local(let destination): try destination.part(destination.partName(suffix, token: token)).path
        case .remote(let location): try location.part(suffix, token: token).location.text
        }
    }

    /// Checks the location as far as possible before any work is done.
    package func check(_ client: HTTPClient) throws(Failure) {
        switch self {
        case .local(let destination): try destination.check()
        case .remote(let location):
            do throws(Failure) { _ = try location.target(client) } catch { throw error.asOutput }
        }
    }
}
