import CCurl
import FoundationEssentials
import JobSchema
import SlotIPC

extension CurlHandle {
    /// Has libcurl ask a server of files for the file, or for its end from the offset on.
    func ask(_ scheme: FileScheme, from offset: Int64?, _ target: RequestTarget, _ policy: TransferPolicy) {
        speak(scheme, target, policy)
        set(CURLOPT_FILETIME, 1)
        // Bytes to some offset would not tell how long the file is, which has no other sign of being the same.
        if let offset { set(CURLOPT_RANGE, "\(offset)-") }
    }

    /// Has libcurl give a server of files the body by another name in the same folder, which is made if it is not there, and then
    /// the name of the target.
    mutating func deliver(_ scheme: FileScheme, _ target: RequestTarget, _ policy: TransferPolicy) throws(Failure) {
        guard let path = OutputPath.fileOnServer(target.url), let end = path.lastIndex(of: "/") else {
            throw Failure(.internal, "the output '\(redactedURL(target.url))' names no file")
        }
        speak(scheme, target, policy)
        let folder = target.url.prefix(through: target.url.lastIndex(of: "/")!)
        // Of this request alone: a worker that was taken for lost may still be sending.
        let temporaryName = ".respool-" + String(UInt64.random(in: 0 ... .max), radix: 16)
        set(CURLOPT_URL, folder + temporaryName)
        set(CURLOPT_FTP_CREATE_MISSING_DIRS, Int(CURLFTP_CREATE_DIR_RETRY.rawValue))
        let name = path[path.index(after: end)...]
        guard scheme == .sftp else {
            // libcurl is in the folder then. The reply to the first tells whether the body is cut.
            return setLastCommands(["*SIZE \(temporaryName)", "RNFR \(temporaryName)", "RNTO \(name)"])
        }
        // Where a URL begins in the user's own folder, other paths begin there as well.
        let place = path.hasPrefix("/~/") ? path[...end].dropFirst(3) : path[...end]
        let quoted = [temporaryName[...], name].map { name in
            "\"" + (place + name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        // Many servers let nothing take the name of what is there (draft-ietf-secsh-filexfer-02, section 6.5).
        setLastCommands(["*rm \(quoted[1])", "rename \(quoted[0]) \(quoted[1])"])
    }

    private func speak(_ scheme: FileScheme, _ target: RequestTarget, _ policy: TransferPolicy) {
        set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
        set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(policy.firstByteTimeout.rounded(.up)))
        // The bytes come from the host that was asked, whatever address it names for them.
        set(CURLOPT_FTP_SKIP_PASV_IP, 1)
        // By itself libcurl lets the bytes go without TLS where the server will have no other.
        if scheme == .ftps { set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue)) }
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

extension FileBody {
    /// Whether this reply of FTP tells how much the server has, and that is not all of it.
    ///
    /// To FTP the end of a connection that was closed on its way is the end of the file. What is no number tells nothing.
    func isCut(by reply: String) -> Bool {
        guard position == length, reply.hasPrefix("213 "),
            let found = UInt64(reply.dropFirst(4).prefix { !$0.isWhitespace })
        else { return false }
        return found != UInt64(length)
    }
}
