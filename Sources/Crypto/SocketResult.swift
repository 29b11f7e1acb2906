/// What came of an attempt to move bytes through a socket that does not block.
package enum SocketResult: Sendable {
    case bytes(Int)
    case wantsRead
    case wantsWrite
    /// The other side closed the connection.
    case ended
    case failed(String)
}
