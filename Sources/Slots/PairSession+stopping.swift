import Synchronization

// How a slot is stopped.
extension PairSession {
    /// Kills the pair at once; callable from any thread. The call in progress then throws `stopped`.
    package nonisolated func stop() {
        let (pair, hasUploads) = shared.withLock { shared in
            shared.isStopped = true
            return (shared.pair, shared.hasUploads)
        }
        if hasUploads { pair?.transcode.kill() } else { pair?.kill() }
        pair?.events.append(.stopped)
    }

    /// Asks both children to exit, and kills them if they do not.
    package func shutdown() async {
        guard let pair = shared.withLock({ $0.pair }) else { return }
        pair.close()
        let end = ContinuousClock.now + .seconds(7)
        let alarm = Task {
            guard (try? await Task.sleep(for: .seconds(5))) != nil else { return }
            pair.kill()
            // A process that waits for a file system that does not respond dies only when that responds.
            guard (try? await Task.sleep(until: end)) != nil else { return }
            pair.events.append(.stopped)
        }
        defer { alarm.cancel() }
        while pair.living > 0 {
            if case .stopped = await pair.next(), .now >= end { break }
        }
        shared.withLock { $0.pair = nil }
    }
}
