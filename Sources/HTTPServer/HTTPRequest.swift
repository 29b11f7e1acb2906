/// What a client asks for.
package struct HTTPRequest: Sendable {
    /// The path, percent-decoded, without the query.
    package let path: String

    package init(path: String) { self.path = path }
}
