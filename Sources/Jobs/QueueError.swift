package import JobSchema
package import Redis

/// Why the queue did not do what it was asked.
package enum QueueError: Error, Hashable, Sendable {
    /// Redis could not be asked, or refused; repeating the call with the same nonce or token is safe.
    case redis(RedisError)
    /// The job with that index is not valid, and none was pushed.
    case invalidJob(index: Int, Failure)
    /// A script answered with something else than it says on its top.
    case unexpectedAnswer(script: String, String)

    /// Whether the same call may well succeed a little later without anybody's help.
    package var isTransient: Bool {
        if case .redis(let error) = self { error.isTransient } else { false }
    }

    /// Whether Redis has done what it was asked, and too few replicas have heard of it.
    package var isShortOfReplicas: Bool {
        if case .redis(.tooFewReplicas(acknowledged: _, _)) = self { true } else { false }
    }
}

extension QueueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .invalidJob(_, let failure): failure.message
        case .unexpectedAnswer(let script, let answer): "the script \(script) answered with \(answer)"
        }
    }
}
