import JobSchema

/// The JSON form of a limit. Without a key, it has the defaults of all other keys.
package struct LimitReport: Encodable {
    @Nullable var key: String?
    @Nullable var limit: Int?
    /// Jobs per minute.
    @Nullable var rate: Int?
    @Nullable var running: Int?
    @Nullable var waiting: Int?

    package init(_ limits: KeyLimits, _ one: KeyLimits.Key?) {
        key = one?.name
        limit = one?.number ?? limits.fallback
        rate = one?.rate ?? limits.fallbackRate
        running = one?.running
        waiting = one?.parked
    }
}
