import Synchronization

/// Tells a pair's mailbox when one of its children has said nothing for too long.
///
/// Time counts while the worker listens: one that was stopped, is held up, or has not read what the child said yet has no
/// reason to complain.
final class SilenceWatch: Sendable {
    private let quiet = Mutex(Duration.zero)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(pair: ChildPair, of child: Child, limit: Duration) {
        let step = min(limit / 10, .seconds(1))
        let started = Task { [weak self, weak pair] in
            while (try? await Task.sleep(for: step)) != nil {
                guard let self, let pair else { return }
                if child.hasUnread || pair.events.hasUnread(from: child.name) { continue }
                // However long this was in coming, no more than a step of it was spent listening.
                let total = quiet.withLock { quiet in
                    quiet += step
                    return quiet
                }
                if total >= limit {
                    pair.events.append(.silent)
                    return
                }
            }
        }
        task.withLock { $0 = started }
    }

    /// The child said something.
    func heard() {
        quiet.withLock { $0 = .zero }
    }

    /// The child need not say anything any more.
    func end() {
        task.withLock { $0?.cancel() }
    }
}

extension ChildPair {
    /// Appends `silent` after a time, unless it is cancelled.
    func alarm(after delay: Duration) -> Task<Void, Never> {
        Task { [weak self] in
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            self?.events.append(.silent)
        }
    }
}
