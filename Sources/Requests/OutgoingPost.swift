import CCurl
package import JobSchema
package import SlotIPC

/// One request that posts a callback or traces. The address policy for outputs applies, and no redirect is followed.
package final class OutgoingPost: RemoteRequest.Owner {
    /// The number of the request, which its result repeats.
    package let number: Int
    /// The result, once the request has ended.
    package private(set) var answer: PostAnswer?
    private let client: HTTPClient
    private var request: RemoteRequest?
    private var head: HTTPHead?
    private var bytes = 0
    /// Bytes of a response body after which the connection is closed.
    private static let maxBytes = 16 << 10

    /// Sends the request. The result appears later in `answer`.
    package init(_ message: PostRequest, client: HTTPClient) {
        number = message.number
        self.client = client
        do throws(Failure) {
            let request = try HTTPClientRequest(
                posting: message, policy: client.policy, addresses: client.outputAddresses, owner: self)
            self.request = request
            client.add(request)
        } catch {
            answer = PostAnswer(failure: error)
        }
    }

    deinit { if let request { client.remove(request) } }

    package func received(_ head: HTTPHead, by request: RemoteRequest) throws(Failure) -> Bool {
        self.head = head
        return true
    }

    package func received(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) -> Bool {
        self.bytes += bytes.count
        return self.bytes < Self.maxBytes
    }

    package func ended(_ request: RemoteRequest, _ end: RemoteRequest.End) {
        // Once the status is received, the rest of the response does not matter.
        if let head {
            answer = PostAnswer(status: head.status, retryAfter: head.retryAfter)
            return
        }
        switch end {
        case .failed(let failure), .broken(let failure): answer = PostAnswer(failure: failure)
        case .complete:
            answer = PostAnswer(failure: Failure(.sourceUnreachable, "the receiver sent no response"))
        }
    }
}
