/// The result of a read or write on a non-blocking socket.
package enum SocketResult: Sendable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The other side closed the connection.
    case ended
    case failed(String)
}
