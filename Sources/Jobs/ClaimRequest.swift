import Synchronization

/// One request of a worker for jobs; repeated after a lost reply, it gets the same jobs.
package struct ClaimRequest: Sendable, Hashable {
    /// Increases with each request of a worker. After a later request, this one gets no jobs.
    package let counter: Int
    /// The last part of the jobs' tokens.
    package let nonce: String

    private static let last = Atomic<Int>(0)

    /// The next request of this process.
    package init() {
        self.init(counter: Self.last.add(1, ordering: .relaxed).newValue, nonce: Nonce.random())
    }

    /// Creates a request with the given counter and nonce, for tests.
    package init(counter: Int, nonce: String) {
        self.counter = counter
        self.nonce = nonce
    }
}
