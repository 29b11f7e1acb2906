import CCurl
import FoundationEssentials
import SlotProtocol

extension CurlHandle {
    /// Has libcurl ask a server of files for the file, or for its end from the offset on.
    func ask(_ scheme: FileScheme, from offset: Int64?, _ target: RequestTarget, _ policy: TransferPolicy) {
        set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
        set(CURLOPT_FILETIME, 1)
        set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(policy.firstByteTimeout.rounded(.up)))
        // Bytes to some offset would not tell how long the file is, which has no other sign of being the same.
        if let offset { set(CURLOPT_RANGE, "\(offset)-") }
        // The bytes come from the host that was asked, whatever address it names for them.
        set(CURLOPT_FTP_SKIP_PASV_IP, 1)
        if let (user, password) = target.user {
            set(CURLOPT_USERNAME, user)
            set(CURLOPT_PASSWORD, password)
        }
        guard scheme == .sftp else { return }
        if let file = policy.knownHostsFile { set(CURLOPT_SSH_KNOWNHOSTS, file) }
        var kinds = CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD
        if let file = policy.sshKeyFile {
            kinds |= CURLSSH_AUTH_PUBLICKEY
            set(CURLOPT_SSH_PRIVATE_KEYFILE, file)
        }
        set(CURLOPT_SSH_AUTH_TYPES, Int(kinds))
    }
}

extension RequestTarget {
    /// The user and the password of the header line that says who asks.
    fileprivate var user: (String, String)? {
        let mark = "authorization: Basic "
        guard let line = headers.first(where: { $0.hasPrefix(mark) }),
            let bytes = Data(base64Encoded: String(line.dropFirst(mark.count)))
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
}
