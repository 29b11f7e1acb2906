import JobSchema
import LocalFiles
import Requests

/// The state of one source in the cache: found, being fetched by one job while others wait, or not cached.
struct CacheUse: ~Copyable {
    private let cache: SourceCache
    private let key: String
    private var found: CachedSource?
    /// Prevents other processes from fetching the same source.
    private var lock: NamedLock?
    /// The entity tag under which the source will be cached.
    private var tag: String?

    init(_ cache: SourceCache, of target: RequestTarget) {
        self.cache = cache
        key = SourceCache.key(of: target)
    }

    /// Whether the source may be requested now; false while another job fetches it.
    mutating func mayAsk() throws(Failure) -> Bool {
        if found != nil || lock != nil { return true }
        found = cache.find(key)
        guard found == nil else { return true }
        lock = try takeLock()
        guard lock != nil else { return false }
        // Another process may have cached it before this one took the lock.
        found = cache.find(key)
        if found != nil { lock = nil }
        return true
    }

    /// The entity tag that the source must still have for the cached copy to be valid.
    var condition: String? {
        switch found {
        case .some(let found): found.tag
        case nil: nil
        }
    }

    /// Whether the whole source is being fetched for the cache.
    var isFetching: Bool { tag != nil }

    /// Takes the cached copy after the server has confirmed that it is still valid.
    mutating func takeFound() -> CachedSource? {
        guard let found = found.take() else { return nil }
        found.spool.touch()
        return found
    }

    /// Takes in the head of the response whose body is the source.
    mutating func take(_ head: HTTPHead) throws(Failure) {
        found = nil
        guard cache.takes(head) else {
            lock = nil
            return
        }
        // If another process is already fetching the changed source, this one reads it without the cache.
        if lock == nil { lock = try takeLock() }
        tag = lock != nil ? head.strongTag : nil
    }

    /// Caches the source, which has been received completely.
    mutating func keep(_ spool: borrowing Spool) {
        guard let tag = tag.take() else { return }
        cache.keep(spool, as: key, tag: tag)
        lock = nil
    }

    private func takeLock() throws(Failure) -> NamedLock? { try NamedLock.take("source \(key)", in: cache.folder) }
}
