import CCurl
import FoundationEssentials
import JobSchema
import SlotIPC

extension CurlHandle {
    /// Requests a file from an FTP or SFTP server, or its rest from the offset on.
    func ask(_ scheme: FileScheme, from offset: Int64?, _ target: RequestTarget, _ policy: TransferPolicy) {
        speak(scheme, target, policy)
        set(CURLOPT_FILETIME, 1)
        // A range with an end would not report the file's length, which is needed to detect a change of the file.
        if let offset { set(CURLOPT_RANGE, "\(offset)-") }
    }

    /// Uploads the body under a temporary name in the target folder, which is created if it is missing, and then renames it to
    /// the target name.
    mutating func deliver(_ scheme: FileScheme, _ target: RequestTarget, _ policy: TransferPolicy) throws(Failure) {
        guard let path = OutputPath.fileOnServer(target.url), let end = path.lastIndex(of: "/") else {
            throw Failure(.internal, "the output '\(redactedURL(target.url))' does not name a file")
        }
        speak(scheme, target, policy)
        let folder = target.url.prefix(through: target.url.lastIndex(of: "/")!)
        // Unique to this request, because a worker whose lease has expired may still be sending.
        let temporaryName = ".respool-" + String(UInt64.random(in: 0 ... .max), radix: 16)
        set(CURLOPT_URL, folder + temporaryName)
        set(CURLOPT_FTP_CREATE_MISSING_DIRS, curl_swift_make_folders)
        let name = path[path.index(after: end)...]
        guard scheme == .sftp else {
            // libcurl has then changed to the folder. The reply to `SIZE` shows whether the upload is truncated.
            return setLastCommands(["*SIZE \(temporaryName)", "RNFR \(temporaryName)", "RNTO \(name)"])
        }
        // If the URL is relative to the user's home folder, the paths in these commands are relative to it too.
        let place = path.hasPrefix("/~/") ? path[...end].dropFirst(3) : path[...end]
        let quoted = [temporaryName[...], name].map { name in
            "\"" + (place + name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        // Many servers refuse to rename a file over an existing one (draft-ietf-secsh-filexfer-02, section 6.5).
        setLastCommands(["*rm \(quoted[1])", "rename \(quoted[0]) \(quoted[1])"])
    }

    private func speak(_ scheme: FileScheme, _ target: RequestTarget, _ policy: TransferPolicy) {
        set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
        set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(policy.firstByteTimeout.rounded(.up)))
        // The data connection uses the requested host, regardless of the address in the PASV reply.
        set(CURLOPT_FTP_SKIP_PASV_IP, 1)
        // By default, libcurl falls back to an unencrypted connection if the server does not support TLS.
        if scheme == .ftps { set(CURLOPT_USE_SSL, curl_swift_use_tls) }
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
    /// The user and the password from the `Authorization: Basic` header line.
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

extension FileBody {
    /// Whether this FTP reply reports a size that differs from the length of the file.
    ///
    /// FTP marks the end of a file by closing the connection, so a lost connection looks like the end of the file. A reply that
    /// is not a number is ignored.
    func isCut(by reply: String) -> Bool {
        guard position == length, reply.hasPrefix("213 "),
            let found = UInt64(reply.dropFirst(4).prefix { !$0.isWhitespace })
        else { return false }
        return found != UInt64(length)
    }
}
