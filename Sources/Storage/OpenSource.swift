package import JobSchema
package import Lifecycle
package import MediaTypes

/// A job's source while it is read.
package enum OpenSource: ~Copyable {
    case local(LocalSource)
    case remote(RemoteSource)

    /// Opens the source at the location; a remote one shows only later whether it can be had, and is looked for in the cache.
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

    /// The URL or path that what it names is relative to.
    package var base: String? {
        switch self {
        case .local: nil
        case .remote(let source): source.finalURL
        }
    }

    /// Bytes of the whole source, once they are known.
    package var length: Int64? {
        switch self {
        case .local(let source): source.length
        case .remote(let source): source.length
        }
    }

    /// Whether it waits for others that fetch from the same host, or the same source.
    package var isWaiting: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isWaiting
        }
    }

    /// Whether it is a stream without an end.
    package var isEndless: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isEndless
        }
    }

    /// Whether an endless stream has ended all the same.
    package var isFinished: Bool {
        switch self {
        case .local: false
        case .remote(let source): source.isFinished
        }
    }

    /// The titles of a radio stream that came since they were last taken.
    package func takeTitles() -> [StreamTitle] {
        switch self {
        case .local: []
        case .remote(let source): source.takeTitles()
        }
    }

    /// Why no further byte will come.
    package var failure: Failure? {
        switch self {
        case .local: nil
        case .remote(let source): source.failure
        }
    }

    /// How many bytes are there from the offset on.
    package func run(from offset: Int64) -> Int64 {
        switch self {
        case .local(let source): max(0, source.length - offset)
        case .remote(let source): source.run(from: offset)
        }
    }

    /// A descriptor of its own, for reading only.
    package func reader() throws(Failure) -> Descriptor {
        switch self {
        case .local(let source):
            do { return try source.file.duplicate() } catch {
                throw Failure(.internal, "the source's descriptor cannot be duplicated: \(error)")
            }
        case .remote(let source): return try source.reader()
        }
    }

    /// Turns to the offset, where the reader is now.
    package func need(_ offset: Int64) {
        switch self {
        case .local: break
        case .remote(let source): source.need(offset)
        }
    }

    /// When `tick` wants to be called at the latest.
    package var nextDeadline: ContinuousClock.Instant? {
        switch self {
        case .local: nil
        case .remote(let source): source.nextDeadline
        }
    }

    /// Moves on what depends on time.
    package func tick(_ now: ContinuousClock.Instant) {
        switch self {
        case .local: break
        case .remote(let source): source.tick(now)
        }
    }
}
