import Lifecycle

/// What was received of sources, and how long requests for them ran.
package struct FetchMeter {
    /// Bytes of bodies.
    package private(set) var bytes: Int64 = 0
    /// The time in which at least one request ran.
    package private(set) var time: Duration = .zero
    /// Whether a server confirmed that a cached copy is still valid.
    package private(set) var isRevalidated = false
    /// When the first request began and the last one ended, in nanoseconds since 1970; `nil` if there was none.
    package private(set) var span: ClosedRange<Int64>?
    private var running = 0
    private var start = ContinuousClock.now

    /// Begins anew; requests that run are measured from now on.
    mutating func reset() {
        bytes = 0
        time = .zero
        isRevalidated = false
        span = running > 0 ? Self.now : nil
        start = .now
    }

    mutating func began() {
        if running == 0 { start = .now }
        extend()
        running += 1
    }

    mutating func ended(_ request: RemoteRequest) {
        running -= 1
        if running == 0 { time += start.duration(to: .now) }
        extend()
        add(request)
    }

    /// Adds a request that still runs.
    mutating func add(_ request: RemoteRequest) {
        bytes += request.receivedBytes
        if request.status == 304 { isRevalidated = true }
    }

    private static var now: ClosedRange<Int64> {
        let now = WallClock.nanoseconds()
        return now...now
    }

    /// Extends the span up to now, unless the clock was set back.
    private mutating func extend() {
        let (first, now) = (span?.lowerBound ?? Self.now.lowerBound, Self.now.upperBound)
        span = first...max(first, now)
    }

    /// The meter up to now, with requests that still run.
    func including(_ requests: some Sequence<RemoteRequest>) -> FetchMeter {
        var meter = self
        if running > 0 {
            meter.time += start.duration(to: .now)
            meter.extend()
        }
        for request in requests where request.isFetch { meter.add(request) }
        return meter
    }
}
