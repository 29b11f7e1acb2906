import Glibc
import Lifecycle

extension TransferPolicy {
    /// The files and folders, besides the system's libraries, in which names, certificates and keys are looked up.
    ///
    /// A running child's sandbox holds what was there when it began. So where another file takes the place of one of them, the
    /// child must be replaced.
    package var lookups: [String] {
        Self.systemLookups
            + [certificateFile, Environment.value("SSL_CERT_FILE"), Environment.value("SSL_CERT_DIR")].compactMap(
                \.self)
            + [
                s3.credentialsFile, s3.configurationFile, s3.container?.tokenFile, credentials.file, knownHostsFile,
                sshKeyFile,
            ].compactMap(\.self).map(Self.location)
    }

    /// The resolver's, the time zone, and where distributions keep authorities and what OpenSSL is set to: never a folder with
    /// private keys below it. systemd and resolvconf have folders for nothing but the resolver's.
    private static let systemLookups = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols", "/etc/networks", "/run/systemd/resolve", "/run/resolvconf", "/etc/localtime",
        "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf",
        "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted",
        "/etc/ca-certificates/extracted", "/var/lib/ca-certificates", "/etc/crypto-policies/back-ends",
        "/etc/ld.so.cache",
    ]

    /// What must be readable so that the file is: all of its volume where it is one of Kubernetes', which has all files of a secret
    /// replaced at once, by a link, while they are in use.
    private static func location(of file: String) -> String {
        let link = withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { bytes in
            let length = readlink(file, bytes.baseAddress!, bytes.count)
            return String(decoding: bytes.prefix(max(0, length)), as: UTF8.self)
        }
        guard link.hasPrefix("..data/"), let end = file.lastIndex(of: "/") else { return file }
        return String(file[..<end])
    }
}
