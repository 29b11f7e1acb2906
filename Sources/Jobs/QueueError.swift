package import JobSchema
package import Redis

/// Why a call of the queue failed.
package enum QueueError: Error, Hashable, Sendable {
    /// Redis was not reachable, or returned an error. Repeating the call with the same nonce or token is safe.
    case redis(RedisError)
    /// The job with that index is not valid, and none was pushed.
    case invalidJob(index: Int, Failure)
    /// A script's answer does not match its header.
    case unexpectedAnswer(script: String, String)

    /// Whether the same call may succeed a little later without intervention.
    package var isTransient: Bool {
        if case .redis(let error) = self { error.isTransient } else { false }
    }

    /// Whether Redis refused the call because its memory is full.
    package var isOutOfMemory: Bool {
        if case .redis(let error) = self { error.isServer("OOM") } else { false }
    }

    /// Whether Redis executed the command, but too few replicas acknowledged it.
    package var isShortOfReplicas: Bool {
        if case .redis(.tooFewReplicas(acknowledged: _, _)) = self { true } else { false }
    }
}

extension QueueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .invalidJob(_, let failure): failure.message
        case .unexpectedAnswer(let script, let answer): "the script \(script) returned \(answer)"
        }
    }
}
