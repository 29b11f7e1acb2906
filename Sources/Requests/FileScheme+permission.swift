package import JobSchema

extension FileScheme {
    /// Refuses an FTP or SFTP URL unless the operator allows its scheme in the named variable.
    package static func check(_ url: String, of noun: String, among allowed: Set<FileScheme>, _ variable: String)
        throws(Failure)
    {
        guard let scheme = FileScheme(of: url), !allowed.contains(scheme) else { return }
        throw Failure(
            .policyDenied,
            "the \(noun) '\(redactedURL(url))' is on an FTP or SFTP server; the operator can allow it with \(variable)")
    }
}
