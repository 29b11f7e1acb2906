/// What takes the body of one request as it arrives. All calls come from one separate thread, and may block: the client then
/// waits.
package protocol HTTPBodySink: Sendable {
    /// Called after the headers. With a response, the body is refused before it is read, and no other call follows.
    func begin() -> HTTPResponse?

    /// Takes the next bytes. After a failure, the sink ignores the rest.
    func write(_ bytes: UnsafeRawBufferPointer)

    /// Called after the last byte, or after the connection was lost; then nobody gets the response.
    func end(isComplete: Bool) -> HTTPResponse
}
