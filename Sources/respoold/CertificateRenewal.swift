import HTTPServer
import Lifecycle

/// Takes up a renewed certificate while the server runs.
struct CertificateRenewal: Sendable {
    let files: CertificateFiles
    let log: Log

    private static let interval: Duration = .seconds(5)

    /// Runs until the task is cancelled. Each problem is logged once.
    func run() async {
        var complaint: String?
        while !Task.isCancelled {
            var problem: String?
            switch await refresh() {
            case .success(let isRenewed):
                if isRenewed { log.info("the certificate was renewed", ["expires": expires]) }
                if files.expires * 1000 < WallClock.milliseconds() {
                    problem = "the certificate has expired, and clients refuse it: renew it"
                }
            case .failure(.certificate(let message)), .failure(.key(let message)):
                problem = "the certificate is not renewed: \(message)"
            }
            if let problem, problem != complaint { log.error(problem) }
            complaint = problem
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// When the certificate expires.
    var expires: String { WallClock.timestamp(milliseconds: files.expires * 1000) }

    /// Reads the files on a separate thread, because that may block.
    private func refresh() async -> Result<Bool, CertificateError> {
        await withCheckedContinuation { done in
            startThread { [files] in
                done.resume(returning: Result { () throws(CertificateError) in try files.refresh() })
            }
        }
    }
}
