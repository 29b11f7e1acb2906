/// What was received of sources, and how long requests for them ran.
package struct FetchMeter {
    /// Bytes of bodies.
    package private(set) var bytes: Int64 = 0
    /// The time in which at least one request ran.
    package private(set) var time: Duration = .zero
    /// Whether a server confirmed that a cached copy is still valid.
    package private(set) var isRevalidated = false
    private var running = 0
    private var start = ContinuousClock.now

    /// Begins anew; requests that run are measured from now on.
    mutating func reset() {
        bytes = 0
        time = .zero
        isRevalidated = false
        start = .now
    }

    mutating func began() {
        if running == 0 { start = .now }
        running += 1
    }

    mutating func ended(_ request: RemoteRequest) {
        running -= 1
        if running == 0 { time += start.duration(to: .now) }
        add(request)
    }

    /// Adds a request that still runs.
    mutating func add(_ request: RemoteRequest) {
        bytes += request.receivedBytes
        if request.status == 304 { isRevalidated = true }
    }

    /// The meter up to now, with requests that still run.
    func including(_ requests: some Sequence<RemoteRequest>) -> FetchMeter {
        var meter = self
        if running > 0 { meter.time += start.duration(to: .now) }
        for request in requests where request.isFetch { meter.add(request) }
        return meter
    }
}
