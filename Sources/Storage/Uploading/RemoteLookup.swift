package import JobSchema

/// Whether something is at the location of an output already.
package final class RemoteLookup {
    private let request: StoreRequest
    private let name: String

    /// Asks the store; nothing for a web server, whose URL may be good for a PUT alone.
    package init?(_ location: RemoteLocation, client: HTTPClient) {
        guard case .object = location else { return nil }
        name = location.name
        request = StoreRequest(StoreMessage(method: "HEAD"), about: location, client: client)
    }

    /// When `tick` wants to be called at the latest.
    package var nextDeadline: ContinuousClock.Instant? { request.nextDeadline }

    /// Moves on what can move, and answers what was found once it is.
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
