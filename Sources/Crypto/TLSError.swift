/// Why TLS cannot start, as a message.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
