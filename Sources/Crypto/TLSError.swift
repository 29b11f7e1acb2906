/// Why TLS cannot begin, as a sentence.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
