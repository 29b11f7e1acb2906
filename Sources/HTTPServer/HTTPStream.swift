import CMicrohttpd
import Synchronization

/// The body of a response that is sent in pieces, as they come.
///
/// While nothing is to be sent, the connection is suspended and costs no time.
package final class HTTPStream: Sendable {
    // The connection is used only while it is suspended, and a suspended connection is not freed.
    private struct State: @unchecked Sendable {
        var pending: [[UInt8]] = []
        var pendingBytes = 0
        /// What was sent of the first pending piece.
        var offset = 0
        var connection: OpaquePointer?
        var isSuspended = false
        var isEnded = false
    }

    private let state: Mutex<State>
    private let maxPendingBytes: Int
    private let onClose: @Sendable () -> Void

    /// `onClose` is called on any thread after the client has left or the stream has ended.
    package init(maxPendingBytes: Int = 256 << 10, onClose: @escaping @Sendable () -> Void = {}) {
        self.maxPendingBytes = maxPendingBytes
        self.onClose = onClose
        state = Mutex(State())
    }

    /// Sends bytes; returns false and drops them if the client has left too many unread, or the stream has ended.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            guard !state.isEnded, state.pendingBytes + bytes.count <= maxPendingBytes else { return false }
            guard !bytes.isEmpty else { return true }
            state.pending.append(bytes)
            state.pendingBytes += bytes.count
            Self.resume(&state)
            return true
        }
    }

    /// Ends the response; the client sees that it is complete.
    package func end() {
        state.withLock { state in
            state.isEnded = true
            Self.resume(&state)
        }
    }

    /// Whether the client has read everything so far.
    package var isIdle: Bool { state.withLock { $0.pending.isEmpty } }

    func attach(_ connection: OpaquePointer) { state.withLock { $0.connection = connection } }

    func closed() {
        state.withLock { state in
            state.isEnded = true
            state.connection = nil
        }
        onClose()
    }

    /// Copies pending bytes, or suspends the connection and returns 0; -1 at the end of the stream.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            var count = 0
            while count < buffer.count, let piece = state.pending.first {
                let some = min(buffer.count - count, piece.count - state.offset)
                piece.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + some])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.offset..<state.offset + some]))
                }
                count += some
                state.offset += some
                if state.offset == piece.count {
                    state.pending.removeFirst()
                    state.offset = 0
                }
            }
            state.pendingBytes -= count
            if count == 0 {
                // `MHD_CONTENT_READER_END_OF_STREAM` is a cast, which Swift does not import.
                if state.isEnded { return -1 }
                // Suspended under the lock, so that no wake-up is lost.
                state.isSuspended = true
                MHD_suspend_connection(state.connection)
            }
            return count
        }
    }

    private static func resume(_ state: inout State) {
        guard state.isSuspended else { return }
        state.isSuspended = false
        MHD_resume_connection(state.connection)
    }
}
