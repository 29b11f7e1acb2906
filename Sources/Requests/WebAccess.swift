import FoundationEssentials
package import JobSchema
package import SlotIPC

/// The credentials sent to each server from which a job's source is fetched.
package struct WebAccess: Sendable {
    private let access: SourceAccess
    private let settings: CredentialSettings
    private let own: Origin?
    /// The user and the password in the source's URL, which are also sent after a redirect within the same server.
    private let user: String?

    /// A source that is not on a web server has no origin, so the job's headers are sent nowhere.
    package init(_ access: SourceAccess, to source: SourceLocation, policy: TransferPolicy) {
        self.access = access
        settings = policy.credentials
        guard case .web(let url) = source, let parsed = ParsedURL.parse(url) else {
            (own, user) = (nil, nil)
            return
        }
        own = Origin(url)
        user = parsed.user.map { "\($0):\(parsed.password ?? "")" }
    }

    /// The header lines of a request for the URL. The job's and the URL's own credentials are sent only to the source's server,
    /// the operator's to every server that they are for.
    package func lines(for url: String) throws(Failure) -> [String] {
        guard let origin = Origin(url) else { return [] }
        let isOwn = origin == own
        var lines = isOwn ? access.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } : []
        if let name = access.credentials {
            lines += try settings.header(name, for: origin, isOwn).map { [$0] } ?? []
        } else if isOwn, let user, access.headers["authorization"] == nil {
            lines.append("authorization: Basic \(Data(user.utf8).base64EncodedString())")
        }
        return lines
    }
}

/// The origin of a URL, which determines the credentials it may receive.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init?(_ text: String) {
        guard let url = ParsedURL.parse(text) else { return nil }
        scheme = url.scheme
        host = url.host.lowercased()
        port = url.port
    }
}

extension CredentialSettings {
    /// The header line of the named credentials; `nil` if they are not for the server. With `mustFit`, that is a failure.
    func header(_ name: String, for origin: Origin, _ mustFit: Bool) throws(Failure) -> String? {
        guard let credential = try read().first(where: { $0.name == name }) else {
            throw Failure(
                .sourceDenied,
                "the worker has no credentials '\(name)': add them to RESPOOL_CREDENTIALS_FILE or RESPOOL_CREDENTIALS",
                retryable: true)
        }
        guard !credential.isFor(scheme: origin.scheme, host: origin.host, port: origin.port) else {
            return credential.header
        }
        guard !mustFit else {
            throw Failure(
                .sourceDenied,
                "the credentials '\(name)' are not allowed for \(origin.scheme)://\(origin.host):\(origin.port)")
        }
        return nil
    }

    /// The header line for an output's URL.
    package func header(_ name: String, forOutput url: String) throws(Failure) -> String? {
        guard let origin = Origin(url) else { return nil }
        return try header(name, for: origin, true)
    }
}
