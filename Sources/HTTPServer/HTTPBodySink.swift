/// What takes the body of one request as it arrives. All calls come from one separate thread, and may block: the client then
/// waits.
package protocol HTTPBodySink: Sendable {
    /// Called after the headers. With a response, the body is refused before it is read, and no other call follows.
    func begin() -> HTTPResponse?

    /// Takes the next bytes. With a response, the rest of the body is refused, and no other call follows.
    func write(_ bytes: UnsafeRawBufferPointer) -> HTTPResponse?

    /// Called after the last byte, or after the connection was lost; then nobody gets the response.
    func end(isComplete: Bool) -> HTTPResponse
}
