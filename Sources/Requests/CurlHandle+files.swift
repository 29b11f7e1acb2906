import CCurl
import FoundationEssentials
import JobSchema
import SlotIPC

extension CurlHandle {
    /// Requests a file from an FTP or SFTP server, or its rest from the offset on.
    func ask(_ scheme: FileScheme, from offset: Int64?, _ target: RequestTarget, _ policy: TransferPolicy) {
        speak(scheme, target, policy)
        setOwnConnection()
        set(CURLOPT_FILETIME, 1)
        // A range with an end would not report the file's length, which is needed to detect a change of the file.
        if let offset { set(CURLOPT_RANGE, "\(offset)-") }
    }

    /// Uploads the body to the named file in the target's folder, which is created if it is missing, or nothing, and then gives the
    /// commands.
    mutating func change(
        _ scheme: FileScheme, upload: String?, _ commands: [FileCommand], _ target: RequestTarget,
        _ policy: TransferPolicy
    ) throws(Failure) {
        guard let path = OutputPath.fileOnServer(target.url), let end = path.lastIndex(of: "/") else {
            throw Failure(.internal, "the output '\(redactedURL(target.url))' does not name a file")
        }
        speak(scheme, target, policy)
        let folder = target.url.prefix(through: target.url.lastIndex(of: "/")!)
        set(CURLOPT_URL, folder + (upload ?? ""))
        if upload == nil {
            set(CURLOPT_NOBODY, 1)
        } else {
            setOwnConnection()
            set(CURLOPT_FTP_CREATE_MISSING_DIRS, curl_swift_make_folders)
        }
        // If the URL is relative to the user's home folder, the paths in the commands of SFTP are relative to it too. With FTP,
        // libcurl has changed to the folder.
        let place = path.hasPrefix("/~/") ? path[...end].dropFirst(3) : path[...end]
        setLastCommands(commands.flatMap { scheme == .sftp ? $0.lines(forSFTPIn: place) : $0.linesForFTP })
    }

    /// libcurl 7.88 does not open the data connection of FTP, until a timeout, if the server's reply to `EPSV` has already arrived, which
    /// happens on a reused connection.
    private func setOwnConnection() { set(CURLOPT_FRESH_CONNECT, 1) }

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

extension FileCommand {
    /// The lines for libcurl, which ignores a refusal of those that begin with an asterisk.
    fileprivate var linesForFTP: [String] {
        let lines =
            switch action {
            case .measure: ["SIZE \(name)"]
            case .rename(let other): ["RNFR \(name)", "RNTO \(other)"]
            case .remove: ["DELE \(name)"]
            }
        return mayFail ? lines.map { "*" + $0 } : lines
    }

    fileprivate func lines(forSFTPIn folder: Substring) -> [String] {
        func quoted(_ name: String) -> String {
            "\"" + (folder + name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        let mark = mayFail ? "*" : ""
        return switch action {
        case .measure: []
        case .rename(let other): ["\(mark)rename \(quoted(name)) \(quoted(other))"]
        case .remove: ["\(mark)rm \(quoted(name))"]
        }
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
