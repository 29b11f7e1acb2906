import Glibc
import Lifecycle
import Synchronization

/// The files of the certificate and the private key with which a listener serves TLS. Renewed files are taken up by `refresh`.
package final class CertificateFiles: Sendable {
    private let certificatePath: String
    private let keyPath: String
    private let state: Mutex<State>

    private struct State {
        var certificate: ServerCertificate
        /// The files from which it was read.
        var versions: [FileVersion]
    }

    /// Tells whether a file was replaced or changed.
    private struct FileVersion: Equatable {
        let numbers: [Int64]

        /// `nil` if there is no such file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            numbers = [
                Int64(bitPattern: UInt64(status.st_dev)), Int64(bitPattern: UInt64(status.st_ino)),
                Int64(status.st_size), WallClock.nanoseconds(of: status.st_ctim),
            ]
        }
    }

    private static let maxBytes = 1 << 20

    /// Reads both files, which are in PEM: the certificate of the server and those of its issuers, and the key, which others than
    /// its owner and its group must not be able to read.
    package init(certificate: String, key: String) throws(CertificateError) {
        (certificatePath, keyPath) = (certificate, key)
        state = Mutex(try Self.read(certificate, key))
    }

    /// The latest certificate.
    var current: ServerCertificate { state.withLock { $0.certificate } }

    /// When the certificate expires, in seconds since 1970.
    package var expires: Int64 { current.expires }

    /// Reads the files again if they have changed, and returns whether they had. If they are not valid, connections still get the
    /// certificate from before.
    package func refresh() throws(CertificateError) -> Bool {
        let versions = [certificatePath, keyPath].compactMap(FileVersion.init)
        guard versions != state.withLock({ $0.versions }) else { return false }
        let new = try Self.read(certificatePath, keyPath)
        state.withLock { $0 = new }
        return true
    }

    private static func read(_ certificate: String, _ key: String) throws(CertificateError) -> State {
        // Taken before the files are read, so that a later change is seen.
        let versions = [certificate, key].compactMap(FileVersion.init)
        let chain = try read(certificate, isSecret: false)
        let secret = try read(key, isSecret: true)
        do throws(ServerCertificate.Problem) {
            return State(certificate: try ServerCertificate(chain: chain, key: secret), versions: versions)
        } catch {
            switch error {
            case .certificate(let text):
                throw .certificate("the file '\(certificate)' has no certificate in PEM: \(text)")
            case .key(let text): throw .key("the file '\(key)' has no private key in PEM: \(text)")
            case .passphrase:
                throw .key("the key in '\(key)' has a passphrase, which is not supported: give a key without one")
            case .mismatch:
                throw .key("the key in '\(key)' is not that of the first certificate in '\(certificate)'")
            }
        }
    }

    private static func read(_ path: String, isSecret: Bool) throws(CertificateError) -> [UInt8] {
        func error(_ message: String) -> CertificateError { isSecret ? .key(message) : .certificate(message) }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw error("the file '\(path)' cannot be read: \(Errno.last)") }
        let file = Descriptor(owning: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maxBytes else {
            throw error("'\(path)' is not a file of at most 1 MiB")
        }
        guard !isSecret || status.st_mode & (S_IROTH | S_IWOTH) == 0 else {
            throw error("everybody can read the key in '\(path)': run chmod o= on it")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(file.number, &bytes, bytes.count)
        guard count >= 0 else { throw error("the file '\(path)' cannot be read: \(Errno.last)") }
        return Array(bytes.prefix(count))
    }
}

/// Why a listener cannot serve TLS with its files, and which of them is wrong.
package enum CertificateError: Error {
    case certificate(String)
    case key(String)
}
