import JobSchema

extension FileScheme {
    /// Refuses the URL of a server of files whose scheme the operator does not allow by the variable.
    static func check(_ url: String, of noun: String, among allowed: Set<FileScheme>, _ variable: String)
        throws(Failure)
    {
        guard let scheme = FileScheme(of: url), !allowed.contains(scheme) else { return }
        throw Failure(
            .policyDenied,
            "the \(noun) '\(redactedURL(url))' is on a server of files; the operator can allow it by \(variable)")
    }
}
