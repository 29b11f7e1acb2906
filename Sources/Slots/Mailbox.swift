import Synchronization

/// Events from several threads, received by one task in their order. The unread events of each sender other than the
/// worker are limited in size.
final class Mailbox<Event: Sendable>: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    fileprivate struct Entry {
        /// `nil` once it is received.
        var event: Event?
        /// `nil` for the worker's own events, which do not count against the capacity.
        var sender: String?
        var bytes = 0
    }

    fileprivate struct State {
        var entries: [Entry] = []
        /// How many of the entries were received.
        var read = 0
        /// How many entries were removed before these.
        var dropped = 0
        /// The size of each sender's unread events.
        var bytes: [String: Int] = [:]
        /// The number of each sender's last event that a newer one may replace.
        var replaceable: [String: Int] = [:]
        /// Senders whose events are discarded.
        var muted: Set<String> = []
        var waiter: CheckedContinuation<Event, Never>?
    }

    /// The fixed cost of an event, so that many small ones fill a mailbox too.
    private static var overhead: Int { 512 }

    init(capacity: Int = 8 << 20) { self.capacity = capacity }

    /// Appends an event of the worker, for which there is always room.
    func append(_ event: Event) {
        let waiter = state.withLock { $0.append(Entry(event: event)) }
        waiter?.resume(returning: event)
    }

    /// Appends an event of another sender. If too much of that sender is unread, returns false and discards all its
    /// events from then on.
    ///
    /// A replaceable event replaces an unread replaceable one of the same sender, and keeps its position.
    func offer(_ event: Event, bytes: Int, from sender: String, replaceable: Bool = false) -> Bool {
        let entry = Entry(event: event, sender: sender, bytes: bytes + Self.overhead)
        let (isTaken, waiter): (Bool, CheckedContinuation<Event, Never>?) = state.withLock { state in
            guard !state.muted.contains(sender) else { return (true, nil) }
            if replaceable, state.replace(with: entry) { return (true, nil) }
            guard state.waiter != nil || state.bytes[sender, default: 0] + entry.bytes <= capacity else {
                state.mute(sender)
                return (false, nil)
            }
            // An event that is delivered at once is never unread.
            if replaceable, state.waiter == nil { state.replaceable[sender] = state.dropped + state.entries.count }
            return (true, state.append(entry))
        }
        waiter?.resume(returning: event)
        return isTaken
    }

    /// Discards the unread events of the sender.
    func discard(from sender: String) { state.withLock { $0.discard(from: sender) } }

    /// Discards the unread and all later events of the sender.
    func mute(_ sender: String) { state.withLock { $0.mute(sender) } }

    /// Whether the sender has unread events.
    func hasUnread(from sender: String) -> Bool {
        state.withLock { state in state.entries[state.read...].contains { $0.sender == sender } }
    }

    /// The next event; only one task may wait at a time.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock { state in
                if let event = state.popFirst() { return event }
                precondition(state.waiter == nil, "a mailbox supports one reader")
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

extension Mailbox.State {
    /// Stores the entry, or returns the waiting reader that receives it.
    mutating func append(_ entry: Mailbox<Event>.Entry) -> CheckedContinuation<Event, Never>? {
        if let waiter {
            self.waiter = nil
            return waiter
        }
        entries.append(entry)
        if let sender = entry.sender { bytes[sender, default: 0] += entry.bytes }
        return nil
    }

    mutating func popFirst() -> Event? {
        guard read < entries.count else { return nil }
        let entry = entries[read]
        // The slot in the array is removed later, but the event is released now.
        entries[read] = Mailbox<Event>.Entry()
        if let sender = entry.sender { bytes[sender, default: 0] -= entry.bytes }
        read += 1
        // Removing entries one by one would take quadratic time for a long backlog.
        if read == entries.count || read >= 1024 {
            dropped += read
            entries.removeFirst(read)
            read = 0
        }
        return entry.event
    }

    /// Replaces an unread replaceable event of the entry's sender; returns false if there is none.
    mutating func replace(with entry: Mailbox<Event>.Entry) -> Bool {
        guard let sender = entry.sender, let number = replaceable[sender], number >= dropped + read else {
            return false
        }
        bytes[sender, default: 0] += entry.bytes - entries[number - dropped].bytes
        entries[number - dropped] = entry
        return true
    }

    mutating func discard(from sender: String) {
        entries = entries[read...].filter { $0.sender != sender }
        dropped += read
        read = 0
        bytes[sender] = 0
        // The positions have changed.
        replaceable = [:]
    }

    mutating func mute(_ sender: String) {
        discard(from: sender)
        muted.insert(sender)
    }
}
