/// The part of an HTTP request that handlers use.
package struct HTTPRequest: Sendable {
    /// The path, percent-decoded, without the query.
    package let path: String

    package init(path: String) { self.path = path }
}
