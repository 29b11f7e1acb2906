import Lifecycle

/// Why a call to Redis failed.
package enum RedisError: Error, Hashable, Sendable {
    /// The address cannot be understood.
    case url(String)
    /// Redis cannot be reached, the connection broke, or no answer came in time; the command may have been carried out.
    case connection(String)
    /// Redis answered with an error: its first word (`NOSCRIPT`, `OOM`, …), and the rest.
    case server(code: String, message: String)
    /// Redis answered with something that the protocol or the caller does not expect.
    case unexpectedReply(String)
    /// Redis carried a write out, and fewer replicas than were to have it said in time that they do.
    case tooFewReplicas(acknowledged: Int, ReplicaWait)
    /// The reply has more bytes than the caller wanted; the command was carried out, and the connection is closed.
    case replyTooLarge(limit: Int)
    /// The client was closed, or the task that waited was cancelled.
    case closed
}

extension RedisError {
    /// Whether the same call may well succeed a little later without anybody's help.
    package var isTransient: Bool {
        switch self {
        case .connection, .tooFewReplicas: true
        case .server(let code, let message):
            Self.transientCodes.contains(code) || message.hasPrefix("max number of clients reached")
        case .url, .unexpectedReply, .replyTooLarge, .closed: false
        }
    }

    /// Whether Redis answered with an error that begins with the word.
    package func isServer(_ word: String) -> Bool {
        if case .server(word, _) = self { true } else { false }
    }

    private static let transientCodes: Set<String> = [
        "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "BUSY", "NOREPLICAS", "OOM",
        "MISCONF",
    ]

    /// What the usual errors mean, and what helps.
    private static let sentences = [
        "LOADING": "Redis is still loading its data, and answers when that is done",
        "READONLY":
            "this Redis is a replica and takes no writes: name its master, or its sentinels with redis+sentinel://",
        "MASTERDOWN": "this Redis is a replica that has lost its master",
        "OOM": "Redis has no memory left for more jobs: raise its maxmemory, or wait until jobs are done",
        "MISCONF": "Redis takes no writes because it cannot save them: see to its disk, and to its log",
        "NOREPLICAS": "Redis takes no writes because too few replicas follow it (min-replicas-to-write)",
        "CLUSTERDOWN": "the Redis cluster is not whole, and does not serve this queue",
        "TRYAGAIN": "the queue is moving to another node of the Redis cluster",
        "BUSY": "Redis is busy with a script of somebody's",
        "NOAUTH": "Redis wants a password",
        "WRONGPASS": "Redis knows no such user with that password",
        "NOPERM": "the Redis account may not do this",
    ]
}

extension RedisError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .url(let sentence), .connection(let sentence): sentence
        case .server(let code, let message):
            (Self.sentences[code].map { "\($0); it answered: " } ?? "Redis answered: ") + "\(code) \(message)"
        case .unexpectedReply(let what): "Redis answered with \(what), which was not expected"
        case .tooFewReplicas(let count, let wait):
            "\(count) of \(wait.replicas) \(wait.replicas == 1 ? "replica" : "replicas") acknowledged the write within "
                + "\(wait.timeout.rounded) s: check the replicas, or lower RESPOOL_WAIT_REPLICAS"
        case .replyTooLarge(let limit): "Redis answered with more than \(limit) bytes"
        case .closed: "the connection to Redis was closed by this program"
        }
    }
}
