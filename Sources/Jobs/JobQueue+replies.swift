import Redis

extension JobQueue {
    /// What is stored under the key of a request that may be repeated.
    package enum StoredReply: Sendable, Hashable {
        /// Nothing: the caller now owns the key.
        case reserved
        /// The first request is being processed.
        case inProgress
        /// The key was used for another request.
        case otherRequest
        /// The response to the first request.
        case stored(String)
    }

    /// Reserves a key for a minute, or returns what is stored under it.
    package func reserveReply(_ name: String, fingerprint: String) async throws(QueueError) -> StoredReply {
        let key = RedisArgument.text(keys.reply(name))
        for _ in 0..<3 {
            let taken = try await send([["SET", key, .text(fingerprint), "NX", "PX", "60000"]])[0]
            if !taken.isNull { return .reserved }
            // The key may have expired in between.
            guard let text = try await send([["GET", key]])[0].string else { continue }
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.first == fingerprint else { return .otherRequest }
            return parts.count == 2 ? .stored(parts[1]) : .inProgress
        }
        return .inProgress
    }

    /// Stores the response for a day.
    package func storeReply(_ name: String, fingerprint: String, _ text: String) async throws(QueueError) {
        _ = try await send([["SET", .text(keys.reply(name)), .text("\(fingerprint) \(text)"), "PX", "86400000"]])
    }

    /// Releases the key, so that the request can be repeated.
    package func removeReply(_ name: String) async throws(QueueError) {
        _ = try await send([["DEL", .text(keys.reply(name))]])
    }
}
