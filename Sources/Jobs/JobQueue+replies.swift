import Redis

extension JobQueue {
    /// What is stored under the key of a request that may be repeated.
    package enum StoredReply: Sendable, Hashable {
        /// Nothing, or the same request came to no end: the caller now owns the key.
        case reserved
        /// The first request is being processed.
        case inProgress
        /// The key was used for another request.
        case otherRequest
        /// The response to the first request.
        case stored(String)
    }

    /// A request under a key. Its owner is random, so that a request that was overtaken changes nothing of the next one.
    package struct ReplyKey: Sendable, Hashable {
        /// The key, which distinguishes clients too.
        package let name: String
        /// What distinguishes requests.
        package let fingerprint: String
        let owner = Nonce.random()

        package init(_ name: String, fingerprint: String) {
            self.name = name
            self.fingerprint = fingerprint
        }
    }

    /// After this time without a response, the same request may proceed once more.
    private static var replyTerm: RedisArgument { .integer(10_000) }
    /// As long as `enqueue` gives the same ids for the same nonce.
    private static var reservationAge: RedisArgument { .integer(600_000) }
    private static var replyAge: RedisArgument { .integer(86_400_000) }

    /// Reserves a key, or returns what is stored under it.
    package func reserveReply(_ key: ReplyKey) async throws(QueueError) -> StoredReply {
        let answer = try await change("reserve", key, [Self.replyTerm, Self.reservationAge])
        switch try answer.text() {
        case "reserved": return .reserved
        case "busy": return .inProgress
        case "other": return .otherRequest
        case let text:
            guard text.hasPrefix("stored ") else { throw answer.unexpected }
            return .stored(String(text.dropFirst("stored ".count)))
        }
    }

    /// Stores the response for a day, unless another request owns the key now.
    package func storeReply(_ key: ReplyKey, _ text: String) async throws(QueueError) {
        _ = try await change("store", key, [.text(text), Self.replyAge])
    }

    /// Lets the same request proceed at once, for one whose end is not known.
    package func releaseReply(_ key: ReplyKey) async throws(QueueError) { _ = try await change("release", key) }

    /// Lets any request use the key, for one that did nothing.
    package func removeReply(_ key: ReplyKey) async throws(QueueError) { _ = try await change("remove", key) }

    private func change(
        _ verb: String, _ key: ReplyKey, _ words: [RedisArgument] = []
    ) async throws(QueueError) -> ScriptAnswer {
        try await run(
            QueueScript.reply, [.text(verb), .text(key.name), .text(key.fingerprint), .text(key.owner)] + words)
    }
}
