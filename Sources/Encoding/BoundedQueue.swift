import Lifecycle

/// What is on its way from one thread to another: the one that is ahead waits for the other.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private let state = Monitor(State())

    package init() {}

    private struct State {
        var elements: [Element] = []
        var bytes = 0
        var end: End?
    }

    private enum End {
        /// Nothing follows.
        case complete
        /// Nobody wants what is on its way.
        case broken
    }

    /// What the reader of a queue finds.
    package enum Portion {
        case elements([Element])
        case end
        /// The other side has given up.
        case broken
    }

    /// How many elements wait at most.
    static var maxElements: Int { 32 }
    /// How much they may weigh together, but for a single one.
    private static var maxBytes: Int { 4 << 20 }

    /// Puts an element in, once there is room; false if the reader has given up.
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

    /// Takes all elements out, once there is one.
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

    /// Says that nothing follows.
    package func complete() { state.change { if $0.end == nil { $0.end = .complete } } }

    /// Gives up, on either side.
    package func abort() {
        state.change { state in
            state.end = .broken
            state.elements = []
        }
    }
}
