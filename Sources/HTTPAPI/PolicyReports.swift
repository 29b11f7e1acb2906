import HTTPServer
import Lifecycle
import Synchronization

/// Logs what browsers report as violations of the page's policy.
final class PolicyReports: Sendable {
    private let count = Mutex(0)

    /// The path that the policy names.
    static let path = "/csp"
    /// Anybody may send reports, so only the first ones are logged.
    private static let maxLogged = 20
    private static let maxBodyBytes = 16 << 10

    /// The decision about a report; `nil` for other requests.
    func decision(_ request: HTTPRequest, _ log: Log) -> HTTPDecision? {
        guard request.path == Self.path, request.method == "POST" else { return nil }
        return .process(maxBodyBytes: Self.maxBodyBytes) { [self] request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number <= Self.maxLogged {
                let text = String(decoding: request.body.prefix(500), as: UTF8.self)
                log.warning("a browser reported a violation of the page's policy", ["report": text])
            }
            return HTTPResponse(status: 204, "")
        }
    }
}
