import Synchronization

/// Events from several threads, taken by one task in their order; what each of the others says is bounded in bytes.
final class Mailbox<Event: Sendable>: Sendable {
    private let capacity: Int
    private let state = Mutex(State())

    fileprivate struct Entry {
        /// Nothing once it is taken.
        var event: Event?
        /// Nothing for what the worker says itself, which takes no room.
        var sender: String?
        var bytes = 0
    }

    fileprivate struct State {
        var entries: [Entry] = []
        /// How many of the entries are read.
        var read = 0
        /// How many entries there were before these.
        var dropped = 0
        /// What is unread of each sender.
        var bytes: [String: Int] = [:]
        /// Of each sender the number of the last event that a newer one may replace.
        var replaceable: [String: Int] = [:]
        /// Senders that are not heard any more.
        var muted: Set<String> = []
        var waiter: CheckedContinuation<Event, Never>?
    }

    /// What each event takes besides its bytes, so that many small ones fill a mailbox too.
    private static var overhead: Int { 512 }

    init(capacity: Int = 8 << 20) { self.capacity = capacity }

    /// Appends an event of the worker's own, for which there is always room.
    func append(_ event: Event) {
        let waiter = state.withLock { $0.append(Entry(event: event)) }
        waiter?.resume(returning: event)
    }

    /// Appends what somebody else says; false, and nothing more of that sender is taken, if too much of it is unread.
    ///
    /// An unread event of the same sender that was replaceable as well makes room for a newer one, and keeps its place.
    func offer(_ event: Event, bytes: Int, from sender: String, replaceable: Bool = false) -> Bool {
        let entry = Entry(event: event, sender: sender, bytes: bytes + Self.overhead)
        let (isTaken, waiter): (Bool, CheckedContinuation<Event, Never>?) = state.withLock { state in
            guard !state.muted.contains(sender) else { return (true, nil) }
            if replaceable, state.replace(with: entry) { return (true, nil) }
            guard state.waiter != nil || state.bytes[sender, default: 0] + entry.bytes <= capacity else {
                state.mute(sender)
                return (false, nil)
            }
            // What somebody waits for is taken at once.
            if replaceable, state.waiter == nil { state.replaceable[sender] = state.dropped + state.entries.count }
            return (true, state.append(entry))
        }
        waiter?.resume(returning: event)
        return isTaken
    }

    /// Drops what is unread of the sender.
    func discard(from sender: String) { state.withLock { $0.discard(from: sender) } }

    /// Drops what is unread of the sender, and all that it says from now on.
    func mute(_ sender: String) { state.withLock { $0.mute(sender) } }

    /// Whether something of the sender waits for the reader.
    func hasUnread(from sender: String) -> Bool {
        state.withLock { state in state.entries[state.read...].contains { $0.sender == sender } }
    }

    /// The next event; one task at a time may wait.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event: Event? = state.withLock { state in
                if let event = state.popFirst() { return event }
                precondition(state.waiter == nil, "a mailbox has one reader")
                state.waiter = continuation
                return nil
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}

extension Mailbox.State {
    /// Keeps the entry, or answers who waits for it.
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
        // The place stays for a while, and what it held does not.
        entries[read] = Mailbox<Event>.Entry()
        if let sender = entry.sender { bytes[sender, default: 0] -= entry.bytes }
        read += 1
        // Moving the rest each time would make a long backlog cost its square.
        if read == entries.count || read >= 1024 {
            dropped += read
            entries.removeFirst(read)
            read = 0
        }
        return entry.event
    }

    /// Whether an unread event of the entry's sender made room for it.
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
        // The places have changed.
        replaceable = [:]
    }

    mutating func mute(_ sender: String) {
        discard(from: sender)
        muted.insert(sender)
    }
}
