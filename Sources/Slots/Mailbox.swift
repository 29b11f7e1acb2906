import Synchronization

/// Events from several threads, taken by one task in their order.
final class Mailbox<Event: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var events: [Event] = []
        var waiter: CheckedContinuation<Event, Never>?
    }

    func append(_ event: Event) {
        let waiter = state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            if waiter == nil { state.events.append(event) }
            return waiter
        }
        waiter?.resume(returning: event)
    }

    /// The next event; one task at a time may wait.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock { state in
                guard state.events.isEmpty else { return state.events.removeFirst() }
                precondition(state.waiter == nil, "a mailbox has one reader")
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
