import Synchronization

/// Tells a pair's mailbox when its children, or one of them, have said nothing for too long.
///
/// Time counts while the worker listens: one that was stopped, is held up, or has not read what a child said yet has no
/// reason to complain.
final class TranscodeWatchdog: Sendable {
    private let limit: Duration
    /// For how long nothing was heard; nothing once nobody need say anything any more.
    private let quiet = Mutex<Duration?>(.zero)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(pair: ChildPair, of children: Child..., limit: Duration) {
        self.limit = limit
        let step = min(limit / 10, .seconds(1))
        let started = Task { [weak self, weak pair] in
            while (try? await Task.sleep(for: step)) != nil {
                guard let self, let pair else { return }
                if children.contains(where: { $0.hasUnread || pair.events.hasUnread(from: $0.name) }) { continue }
                // However long this was in coming, no more than a step of it was spent listening.
                let total = quiet.withLock { quiet in
                    quiet? += step
                    return quiet
                }
                guard let total else { return }
                // Once in a silence.
                if total >= limit, total - step < limit { pair.events.append(.silent(self)) }
            }
        }
        task.withLock { $0 = started }
    }

    /// Whether nothing was heard since it told so, and something should have been.
    var isOverdue: Bool { quiet.withLock { $0.map { $0 >= limit } ?? false } }

    /// A child said something.
    func reset() {
        quiet.withLock { if $0 != nil { $0 = .zero } }
    }

    /// The children need not say anything any more.
    func end() {
        quiet.withLock { $0 = nil }
        task.withLock { $0?.cancel() }
    }
}
