import FoundationEssentials
import HTTPServer
package import Jobs
package import Lifecycle
import Synchronization

/// Sends the events of one queue to all its listeners, from one connection to Redis.
package final class EventHub: Sendable {
    package let queue: JobQueue
    private let log: Log
    private let state = Mutex(State())

    private struct State {
        /// The latest events, for listeners that just read the stored ones.
        var recent: [EventFrame] = []
        private(set) var listeners: [UInt64: Listener] = [:]
        /// The listeners of one job, by its id, and all others: of 1,000 that follow a job each, an event concerns one.
        private var ofJobs: [String: Set<UInt64>] = [:]
        private var others: Set<UInt64> = []
        private var next: UInt64 = 0
        private var nextSweep = ContinuousClock.now

        mutating func reserveNumber() -> UInt64 {
            next += 1
            return next
        }

        mutating func insert(_ listener: Listener, _ number: UInt64) {
            listeners[number] = listener
            if let job = listener.filter.job { ofJobs[job, default: []].insert(number) } else { others.insert(number) }
        }

        mutating func remove(_ number: UInt64) {
            guard let listener = listeners.removeValue(forKey: number) else { return }
            others.remove(number)
            guard let job = listener.filter.job else { return }
            ofJobs[job]?.remove(number)
            if ofJobs[job]?.isEmpty == true { ofJobs[job] = nil }
        }

        /// Sends the frames to the listeners that they concern, and each second what keeps connections alive.
        mutating func send(_ frames: [EventFrame], hasGap: Bool) {
            let isSweep = hasGap || .now >= nextSweep
            if isSweep { nextSweep = .now + EventHub.sweepInterval }
            let numbers =
                isSweep
                ? Set(listeners.keys) : frames.reduce(into: others) { $0.formUnion(ofJobs[$1.job] ?? []) }
            for number in numbers {
                if hasGap { listeners[number]!.hasGap = true }
                EventHub.send(frames, to: &listeners[number]!)
            }
        }
    }

    private struct Listener {
        let stream: HTTPStream
        let filter: EventFilter
        /// The last entry that was sent or skipped.
        var last: EventPosition
        /// The number of the last event that was sent before events were lost.
        var hasGap = false
        var quietSince = ContinuousClock.now
    }

    private static let maxRecent = 1000
    /// The shortest time between two flushes.
    private static let interval: Duration = .milliseconds(100)
    /// How often silent connections are looked for.
    private static let sweepInterval: Duration = .seconds(1)
    /// Proxies close connections that are silent for longer.
    private static let keepAlive: Duration = .seconds(15)

    package init(queue: JobQueue, log: Log) {
        self.queue = queue
        self.log = log
    }

    /// Reads the feed until the task is cancelled.
    package func run(_ feed: EventFeed) async {
        var feed = feed
        var isComplaining = false
        while !Task.isCancelled {
            do throws(QueueError) {
                let batch = try await feed.next()
                isComplaining = false
                publish(batch.events, hasGap: batch.hasGap)
                try? await Task.sleep(for: Self.interval)
            } catch {
                if !isComplaining, !Task.isCancelled { log.warning("events cannot be read, retrying: \(error)") }
                isComplaining = true
                publish([], hasGap: false)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Sends stored events after an id, and then each event as it comes.
    func listen(_ filter: EventFilter, after last: String?) async throws(QueueError) -> HTTPStream {
        let stored = try await queue.events(after: last)
        let number = state.withLock { $0.reserveNumber() }
        let stream = HTTPStream { [weak self] in self?.remove(number) }
        // With the newest id, a client that is cut off before the stored events would go on after them.
        let start = (last ?? stored.newest).map { "id: \($0)\n" } ?? ""
        var text = "retry: 2000\n\(start)event: hello\ndata: {\"queue\":\"\(queue.name.text)\"}\n\n"
        if stored.hasGap { text += Self.gap }
        let frames = stored.events.map(EventFrame.init).filter(filter.matches)
        // More than a stream takes at once is a gap.
        let isSent = stream.send(Array(text.utf8) + frames.flatMap(\.bytes))
        if !isSent { stream.send(Array((text + (stored.hasGap ? "" : Self.gap)).utf8)) }
        let last = EventPosition(stored.newest ?? "0-0")
        state.withLock { state in
            var listener = Listener(stream: stream, filter: filter, last: last)
            Self.send(state.recent, to: &listener)
            state.insert(listener, number)
        }
        return stream
    }

    /// How many listeners there are.
    package var listenerCount: Int { state.withLock { $0.listeners.count } }

    private func remove(_ number: UInt64) { state.withLock { $0.remove(number) } }

    private func publish(_ events: [QueueEvent], hasGap: Bool) {
        // Encoded once for all listeners, and before the lock, which the listener's thread needs too.
        let frames = events.map(EventFrame.init)
        let streams = state.withLock { state in
            if hasGap { state.recent = [] }
            state.recent = (state.recent + frames).suffix(Self.maxRecent)
            state.send(frames, hasGap: hasGap)
            return state.listeners.count
        }
        if streams > 0, !events.isEmpty { log.debug("events", ["count": events.count]) }
    }

    private static func send(_ frames: [EventFrame], to listener: inout Listener) {
        let last = listener.last
        var bytes = listener.hasGap ? Array(gap.utf8) : []
        for frame in frames where frame.position > last {
            listener.last = frame.position
            if listener.filter.matches(frame) { bytes += frame.bytes }
        }
        if bytes.isEmpty {
            guard ContinuousClock.now - listener.quietSince > keepAlive else { return }
            bytes = Array(": keep-alive\n\n".utf8)
        }
        listener.quietSince = .now
        // A listener that does not keep up loses these events, and is told so with the next ones.
        listener.hasGap = !listener.stream.send(bytes)
    }

    private static let gap = "event: gap\ndata: {}\n\n"
}

/// The events that a listener gets; a property that is `nil` restricts nothing.
struct EventFilter: Sendable {
    var job: String?
    /// The group whose jobs, seal and end are sent.
    var group: String?

    fileprivate func matches(_ frame: EventFrame) -> Bool {
        (job == nil || frame.job == job) && (group == nil || frame.group == group)
    }
}

/// An event as it is sent.
private struct EventFrame: Sendable {
    let position: EventPosition
    /// The job's id; empty if the event concerns the queue.
    let job: String
    /// The group of the job, or the one that was sealed or has ended.
    let group: String?
    let bytes: [UInt8]

    init(_ event: QueueEvent) {
        position = EventPosition(event.entry)
        job = event.id
        group = event.details["group"]
        let head = "id: \(event.entry)\nevent: \(event.id.isEmpty ? "queue" : "job")\ndata: "
        bytes = Array(head.utf8) + JSONBody.bytes(Content(event)) + Array("\n\n".utf8)
    }

    private struct Content: Encodable {
        let n: Int64
        let id: String?
        let state: String
        let at: String
        let details: [String: String]?

        init(_ event: QueueEvent) {
            n = event.number
            id = event.id.isEmpty ? nil : event.id
            state = event.state
            at = WallClock.timestamp(milliseconds: event.moment)
            details = event.details.isEmpty ? nil : event.details
        }
    }
}

/// The id of an entry of a stream, in the order of the stream.
private struct EventPosition: Comparable {
    private let milliseconds: UInt64
    private let number: UInt64

    init(_ text: String) {
        let parts = text.split(separator: "-").map { UInt64($0) ?? 0 }
        milliseconds = parts.first ?? 0
        number = parts.count == 2 ? parts[1] : 0
    }

    static func < (left: EventPosition, right: EventPosition) -> Bool {
        (left.milliseconds, left.number) < (right.milliseconds, right.number)
    }
}
