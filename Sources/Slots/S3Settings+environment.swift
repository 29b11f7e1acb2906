package import Configuration
import JobSchema
package import SlotIPC

extension S3Settings {
    /// The settings from the variables of Amazon's own tools, and those of respool.
    package init(_ environment: Environment) throws(SettingError) {
        self.init()
        setKeys(environment)
        container = try Self.container(environment)
        if environment.foreign("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" {
            let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
            let endpoint = environment.foreign(name) ?? "http://169.254.169.254"
            let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
            try Self.check(name, redactedURL(endpoint), Self.isEndpoint(base), "https:// or http:// and a host")
            instanceEndpoint = base
        }
        // Keys of the machine's role instead would be those of another identity.
        if keys == nil, keysFault == nil, container == nil, environment.foreign("AWS_SHARED_CREDENTIALS_FILE") == nil,
            environment.foreign("AWS_WEB_IDENTITY_TOKEN_FILE") != nil
        {
            keysFault =
                "the worker has AWS_WEB_IDENTITY_TOKEN_FILE, and web identities are not supported: "
                + "use EKS Pod Identity, or give keys"
        }
        let home = environment.foreign("HOME")
        credentialsFile = environment.foreign("AWS_SHARED_CREDENTIALS_FILE") ?? home.map { "\($0)/.aws/credentials" }
        configurationFile = environment.foreign("AWS_CONFIG_FILE") ?? home.map { "\($0)/.aws/config" }
        profile = environment.foreign("AWS_PROFILE") ?? "default"
        region = environment.foreign("AWS_REGION") ?? environment.foreign("AWS_DEFAULT_REGION")
        if let region { try Self.check("AWS_REGION", region, KeyName.isValid(region), "a region's name") }
        endpoint = environment.foreign("AWS_ENDPOINT_URL_S3") ?? environment.foreign("AWS_ENDPOINT_URL")
        if let endpoint {
            try Self.check(
                "AWS_ENDPOINT_URL_S3", redactedURL(endpoint), Self.isEndpoint(endpoint),
                "https:// or http:// and a host")
        }
        usesPathStyle = try environment.value(Settings.s3PathStyle)
        if let text = environment.text(Settings.s3Encryption) {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard text == "AES256" || parts.first == "aws:kms" && Self.isLine(text) else {
                throw Settings.s3Encryption.error(text)
            }
            encryption = parts.first
            encryptionKey = parts.count > 1 ? parts[1] : nil
        }
        storageClass = environment.text(Settings.s3StorageClass)
        if let storageClass, !KeyName.isValid(storageClass) { throw Settings.s3StorageClass.error(storageClass) }
    }

    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

    /// If only one of the two variables is set, only jobs that need the keys fail.
    private mutating func setKeys(_ environment: Environment) {
        switch (environment.foreign("AWS_ACCESS_KEY_ID"), environment.foreign("AWS_SECRET_ACCESS_KEY")) {
        case (nil, nil): break
        case (let identifier?, let secret?):
            keys = S3Keys(
                identifier: identifier, secret: secret, sessionToken: environment.foreign("AWS_SESSION_TOKEN"))
        case (let identifier, _):
            keysFault =
                "the worker has \(identifier == nil ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID") alone: "
                + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, so set both or none"
        }
    }

    /// The server from which a container gets its keys, from the variables of Amazon's tools.
    private static func container(_ environment: Environment) throws(SettingError) -> S3RoleSource? {
        let token = environment.foreign("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        let tokenFile = environment.foreign("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if let path = environment.foreign("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            try check("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path, path.hasPrefix("/") && isLine(path), "a path")
            return S3RoleSource(url: "http://169.254.170.2" + path, token: token, tokenFile: tokenFile)
        }
        guard let url = environment.foreign("AWS_CONTAINER_CREDENTIALS_FULL_URI") else { return nil }
        let isNear =
            !url.contains("@")
            && containerHosts.contains { host in
                ["/", ":"].contains { url.hasPrefix("http://\(host)\($0)") }
            }
        try check(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI", redactedURL(url),
            ServerURL.isValidOnWeb(url) && (isNear || url.hasPrefix("https://")),
            "https://, or http:// and an address of this machine or its container service")
        return S3RoleSource(url: url, token: token, tokenFile: tokenFile)
    }

    private static let containerHosts = [
        "127.0.0.1", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
    ]

    private static func isEndpoint(_ text: String) -> Bool {
        let host = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? ""
        return ["http://", "https://"].contains { text.hasPrefix($0) } && !host.isEmpty
            && !host.utf8.contains { "/?#@ ".utf8.contains($0) }
    }

    private static func check(_ name: String, _ value: String, _ isRight: Bool, _ right: String) throws(SettingError) {
        guard !isRight else { return }
        throw SettingError(name, is: value, expected: right)
    }
}
