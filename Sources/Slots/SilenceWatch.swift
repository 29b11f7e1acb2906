import Synchronization

/// Tells a pair's mailbox when its transcoder has said nothing for too long.
final class SilenceWatch: Sendable {
    private let last = Mutex(ContinuousClock.now)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(pair: ChildPair, limit: Duration) {
        let started = Task { [weak self, weak pair] in
            var wait = limit
            while (try? await Task.sleep(for: wait)) != nil {
                guard let self, let pair else { return }
                let quiet = last.withLock { $0.duration(to: .now) }
                if quiet >= limit {
                    pair.events.append(.silent)
                    return
                }
                wait = limit - quiet
            }
        }
        task.withLock { $0 = started }
    }

    /// The transcoder said something.
    func heard() {
        last.withLock { $0 = .now }
    }

    /// The transcoder need not say anything any more.
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
