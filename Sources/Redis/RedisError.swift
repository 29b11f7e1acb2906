import Lifecycle

/// Why a call to Redis failed.
package enum RedisError: Error, Hashable, Sendable {
    /// The URL is invalid.
    case url(String)
    /// Redis is unreachable, the connection broke, or no reply came in time. Redis may have executed the command.
    case connection(String)
    /// Redis replied with an error: its first word (`NOSCRIPT`, `OOM`, …), and the rest.
    case server(code: String, message: String)
    /// The reply violates the protocol or has an unexpected type.
    case unexpectedReply(String)
    /// Redis executed a write, but fewer replicas than required acknowledged it in time.
    case tooFewReplicas(acknowledged: Int, ReplicaWait)
    /// The reply exceeds the caller's limit; Redis executed the command, and the connection is closed.
    case replyTooLarge(limit: Int)
    /// The client was closed, or the waiting task was cancelled.
    case closed
}

extension RedisError {
    /// Whether the same call may succeed a little later without intervention.
    package var isTransient: Bool {
        switch self {
        case .connection, .tooFewReplicas: true
        case .server(let code, let message):
            Self.transientCodes.contains(code) || message.hasPrefix("max number of clients reached")
        case .url, .unexpectedReply, .replyTooLarge, .closed: false
        }
    }

    /// Whether the error is an error reply that begins with the word.
    package func isServer(_ word: String) -> Bool {
        if case .server(word, _) = self { true } else { false }
    }

    private static let transientCodes: Set<String> = [
        "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "BUSY", "NOREPLICAS", "OOM",
        "MISCONF",
    ]

    /// Explanations of common errors, with remedies.
    private static let sentences = [
        "LOADING": "Redis is still loading its data: wait until it is ready",
        "READONLY":
            "this Redis is a read-only replica: give its master, or its sentinels with redis+sentinel://",
        "MASTERDOWN": "this Redis is a replica without a connection to its master",
        "OOM": "Redis is out of memory for more jobs: raise its maxmemory, or wait until jobs finish",
        "MISCONF": "Redis rejects writes because it cannot save to disk: check its disk and its log",
        "NOREPLICAS": "Redis rejects writes because it has too few replicas (min-replicas-to-write)",
        "CLUSTERDOWN": "the Redis cluster is down or incomplete, and does not serve this queue",
        "TRYAGAIN": "the queue is moving to another node of the Redis cluster",
        "BUSY": "Redis is busy running a script of another client",
        "NOSCRIPTING": "this server runs no Lua scripts, which respool needs: give a Redis or Valkey that does",
        "NOAUTH": "Redis requires a password",
        "WRONGPASS": "Redis rejects the user name or the password",
        "NOPERM": "the Redis user has no permission for this command",
    ]
}

extension RedisError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .url(let sentence), .connection(let sentence): sentence
        case .server(let code, let message):
            (Self.sentences[code].map { "\($0); it replied: " } ?? "Redis replied: ") + "\(code) \(message)"
        case .unexpectedReply(let what): "unexpected reply from Redis: \(what)"
        case .tooFewReplicas(let count, let wait):
            "\(count) of \(wait.replicas) \(wait.replicas == 1 ? "replica" : "replicas") acknowledged the write within "
                + "\(wait.timeout.rounded) s: check the replicas, or lower RESPOOL_WAIT_REPLICAS"
        case .replyTooLarge(let limit): "Redis replied with more than \(limit) bytes"
        case .closed: "this program closed the connection to Redis"
        }
    }
}
