/// Why TLS cannot start, as a message.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people, with the name of the file or server.
    package let description: String

    init(_ description: String) { self.description = description }
}
