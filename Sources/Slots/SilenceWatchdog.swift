import Synchronization

/// Appends an event to a pair's mailbox if its children, or one of them, have sent nothing for too long.
///
/// It counts only the time in which the worker could receive: time in which the worker was suspended or delayed, or had
/// unread messages of the child, does not count.
final class SilenceWatchdog: Sendable {
    private let limit: Duration
    /// The time without a message; `nil` once no message is expected any more.
    private let quiet = Mutex<Duration?>(.zero)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(pair: ChildPair, of children: Child..., limit: Duration) {
        self.limit = limit
        let step = min(limit / 10, .seconds(1))
        let started = Task { [weak self, weak pair] in
            while (try? await Task.sleep(for: step)) != nil {
                guard let self, let pair else { return }
                if children.contains(where: { $0.hasUnread || pair.events.hasUnread(from: $0.name) }) { continue }
                // At most one step is counted, however long the sleep really took.
                let total = quiet.withLock { quiet in
                    quiet? += step
                    return quiet
                }
                guard let total else { return }
                // Only once per timeout.
                if total >= limit, total - step < limit { pair.events.append(.silent(self)) }
            }
        }
        task.withLock { $0 = started }
    }

    /// Whether still no message was received since the event, and one is expected.
    var isOverdue: Bool { quiet.withLock { $0.map { $0 >= limit } ?? false } }

    /// Restarts the timeout, because a child has sent something.
    func reset() {
        quiet.withLock { if $0 != nil { $0 = .zero } }
    }

    /// Ends the watch: no message is expected any more.
    func end() {
        quiet.withLock { $0 = nil }
        task.withLock { $0?.cancel() }
    }
}
