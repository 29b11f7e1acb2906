package import JobSchema
package import Lifecycle
package import LocalFiles
package import MediaTypes
package import Requests

/// The source of a job while it is being read.
package enum OpenSource: ~Copyable {
    case local(LocalSource)
    case remote(RemoteSource)

    /// Opens the source at the location. A remote source is first looked up in the cache; whether it can be fetched is reported
    /// later.
    package static func open(
        _ location: SourceLocation, _ access: WebAccess, client: HTTPClient, maxBytes: Int64? = nil,
        cache: SourceCache? = nil
    ) throws(Failure) -> OpenSource {
        switch location {
        case .file(let path): .local(try LocalSource.open(path: path, policy: client.policy))
        case .web, .object:
            .remote(try RemoteSource(location, access, client: client, maxBytes: maxBytes, cache: cache))
        }
    }

    /// The URL that relative references inside the source are resolved against; `nil` for a local source.
    package var base: String? {
        switch self {
        case .local: nil
        case .remote(let source): source.finalURL
        }
    }

    /// Whether the source is a file of this machine.
    package var isLocal: Bool {
        switch self {
        case .local: true
        case .remote: false
        }
    }

    /// Length of the whole source in bytes, once it is known.
    package var length: Int64? {
        switch self {
        case .local(let source): source.length
        case .remote(let source): source.length
        }
    }

    /// Whether the source waits for other jobs that fetch from the same host, or the same source.
    package var isWaiting: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isWaiting
        }
    }

    /// Whether the source is a stream without an end.
    package var isEndless: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isEndless
        }
    }

    /// Whether an endless stream has been ended by its server.
    package var isFinished: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isFinished
        }
    }

    /// The titles of a radio stream that were received since the last call.
    package func takeTitles() -> [StreamTitle] {
        switch self {
        case .local: []
        case .remote(let source): source.takeTitles()
        }
    }

    /// The reason why no further bytes will arrive.
    package var failure: Failure? {
        switch self {
        case .local: nil
        case .remote(let source): source.failure
        }
    }

    /// The number of contiguous bytes that are available from the offset on.
    package func run(from offset: Int64) -> Int64 {
        switch self {
        case .local(let source): max(0, source.length - offset)
        case .remote(let source): source.run(from: offset)
        }
    }

    /// A separate, read-only descriptor.
    package func reader() throws(Failure) -> Descriptor {
        switch self {
        case .local(let source):
            do { return try source.file.duplicate() } catch {
                throw Failure(.internal, "the source's descriptor cannot be duplicated: \(error)")
            }
        case .remote(let source): return try source.reader()
        }
    }

    /// Sets the reader's position, from which the source is fetched next.
    package func need(_ offset: Int64) {
        switch self {
        case .local: break
        case .remote(let source): source.need(offset)
        }
    }

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? {
        switch self {
        case .local: nil
        case .remote(let source): source.nextDeadline
        }
    }

    /// Handles timeouts and retries that are due.
    package func tick(_ now: ContinuousClock.Instant) {
        switch self {
        case .local: break
        case .remote(let source): source.tick(now)
        }
    }
}
