import JobSchema

/// What one source has to do with the cache: it is found there, or fetched for it by one job while others wait, or neither.
struct CacheUse: ~Copyable {
    private let cache: SourceCache
    private let key: String
    private var found: CachedSource?
    /// Keeps others from fetching it as well.
    private var lock: NamedLock?
    /// The tag under which it will be kept.
    private var tag: String?

    init(_ cache: SourceCache, of target: RequestTarget) {
        self.cache = cache
        key = SourceCache.key(of: target)
    }

    /// Whether it may be asked for; false while another job fetches it.
    mutating func mayAsk() throws(Failure) -> Bool {
        if found != nil || lock != nil { return true }
        found = cache.find(key)
        guard found == nil else { return true }
        lock = try takeLock()
        guard lock != nil else { return false }
        // Another may have kept it just before.
        found = cache.find(key)
        if found != nil { lock = nil }
        return true
    }

    /// The tag that the source must have for what was found to be it.
    var condition: String? {
        switch found {
        case .some(let found): found.tag
        case nil: nil
        }
    }

    /// Whether it is fetched whole, to be kept.
    var isFetching: Bool { tag != nil }

    /// Gives what was found, which the server says is still the source.
    mutating func takeFound() -> CachedSource? {
        guard let found = found.take() else { return nil }
        found.spool.touch()
        return found
    }

    /// Takes in what the answer says whose body is the source.
    mutating func take(_ head: HTTPHead) throws(Failure) {
        found = nil
        guard cache.takes(head) else {
            lock = nil
            return
        }
        // One that has changed may be on another's way already: then this one is read as without a cache.
        if lock == nil { lock = try takeLock() }
        tag = lock != nil ? head.strongTag : nil
    }

    /// Keeps the source, all of which is there.
    mutating func keep(_ spool: borrowing Spool) {
        guard let tag = tag.take() else { return }
        cache.keep(spool, as: key, tag: tag)
        lock = nil
    }

    private func takeLock() throws(Failure) -> NamedLock? { try NamedLock.take("source \(key)", in: cache.folder) }
}
