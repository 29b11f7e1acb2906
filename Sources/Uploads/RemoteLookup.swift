package import JobSchema
package import Requests

/// Checks whether an object already exists at the location of an output.
package final class RemoteLookup {
    private let request: StoreRequest
    private let name: String

    /// Sends HEAD to the store; `nil` for a web server, whose URL may be valid for PUT only.
    package init?(_ location: RemoteLocation, client: HTTPClient) {
        guard case .object = location else { return nil }
        name = location.name
        request = StoreRequest(StoreMessage(method: "HEAD"), about: location, client: client)
    }

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? { request.nextDeadline }

    /// Advances the request without waiting; returns whether the object exists, once that is known.
    package func tick(_ now: ContinuousClock.Instant) throws(Failure) -> Bool? {
        request.tick(now)
        switch request.result {
        case .success: return true
        case .failure where request.hasFoundNothing: return false
        case .failure(let failure): throw failure
        case nil: return nil
        }
    }
}
