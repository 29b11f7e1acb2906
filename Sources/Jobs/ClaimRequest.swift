import Synchronization

/// One request of a worker for jobs; sent again after a lost reply, it gets the same jobs.
package struct ClaimRequest: Sendable, Hashable {
    /// Counts up from one request of a worker to its next: after a later one, this one gets nothing any more.
    package let counter: Int
    /// What the tokens of the jobs end with.
    package let nonce: String

    private static let last = Atomic<Int>(0)

    /// The next request of this process.
    package init() {
        self.init(counter: Self.last.add(1, ordering: .relaxed).newValue, nonce: Nonce.random())
    }

    package init(counter: Int, nonce: String) {
        self.counter = counter
        self.nonce = nonce
    }
}
