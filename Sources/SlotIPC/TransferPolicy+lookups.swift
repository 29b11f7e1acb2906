import Configuration
import Glibc

extension TransferPolicy {
    /// The files and folders, besides the system's libraries, that are needed to look up names, certificates and keys.
    ///
    /// The sandbox of a running child is bound to the files that existed when it started. If one of them is replaced,
    /// the child must be replaced too.
    package var lookups: [String] {
        Self.systemLookups
            + [
                certificateFile, Environment.process.foreign("SSL_CERT_FILE"),
                Environment.process.foreign("SSL_CERT_DIR"),
            ]
            .compactMap(\.self)
            + [
                s3.credentialsFile, s3.configurationFile, s3.container?.tokenFile, credentials.file, knownHostsFile,
                sshKeyFile,
            ].compactMap(\.self).map(Self.location)
    }

    /// The files of the resolver, the time zone, the certificate authorities of distributions, and the configuration of
    /// OpenSSL; never a folder that contains private keys. systemd and resolvconf have folders that contain only files
    /// of the resolver.
    private static let systemLookups = [
        "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
        "/etc/protocols", "/etc/networks", "/run/systemd/resolve", "/run/resolvconf", "/etc/localtime",
        "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf",
        "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted",
        "/etc/ca-certificates/extracted", "/var/lib/ca-certificates", "/etc/crypto-policies/back-ends",
        "/etc/ld.so.cache",
    ]

    /// The path that must be readable to read the file. For a volume of Kubernetes that is the whole folder, because
    /// Kubernetes replaces all files of a secret at once, through a link, while they are in use.
    private static func location(of file: String) -> String {
        let link = withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { bytes in
            let length = readlink(file, bytes.baseAddress!, bytes.count)
            return String(decoding: bytes.prefix(max(0, length)), as: UTF8.self)
        }
        guard link.hasPrefix("..data/"), let end = file.lastIndex(of: "/") else { return file }
        return String(file[..<end])
    }
}
