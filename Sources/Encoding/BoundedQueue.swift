import Lifecycle

/// A bounded queue between two threads. The writer blocks while the queue is full, the reader while it is empty.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private let state = Monitor(State())

    /// An empty queue, which the writer completes or either side aborts.
    package init() {}

    private struct State {
        var elements: [Element] = []
        var bytes = 0
        var end: End?
    }

    private enum End {
        /// No more elements follow.
        case complete
        /// One side has aborted, and the queued elements are discarded.
        case broken
    }

    /// The result of reading a queue.
    package enum Portion {
        case elements([Element])
        case end
        /// The other side has aborted.
        case broken
    }

    /// The maximum number of queued elements.
    static var maxElements: Int { 32 }
    /// The maximum total size of the queued elements. A single element may be larger.
    private static var maxBytes: Int { 4 << 20 }

    /// Appends an element once there is room; returns `false` if the queue was aborted.
    package func append(_ element: Element, bytes: Int) -> Bool {
        state.wait { state in
            if state.end != nil { return false }
            let hasRoom = state.elements.count < Self.maxElements && state.bytes + bytes <= Self.maxBytes
            guard hasRoom || state.elements.isEmpty else { return nil }
            state.elements.append(element)
            state.bytes += bytes
            return true
        }
    }

    /// Takes all elements once there is one.
    package func take() -> Portion {
        state.wait { state in
            if state.end == .broken { return .broken }
            guard !state.elements.isEmpty else { return state.end == .complete ? .end : nil }
            let elements = state.elements
            state.elements = []
            state.bytes = 0
            return .elements(elements)
        }
    }

    /// Marks the end of the elements.
    package func complete() { state.change { if $0.end == nil { $0.end = .complete } } }

    /// Aborts the queue, from either side.
    package func abort() {
        state.change { state in
            state.end = .broken
            state.elements = []
        }
    }
}
