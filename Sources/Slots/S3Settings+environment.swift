package import JobSchema
import Lifecycle
package import SlotIPC

extension S3Settings {
    /// The settings from the variables of Amazon's own tools, and those of respool.
    package static func fromEnvironment() throws(Failure) -> S3Settings {
        var settings = S3Settings()
        setKeys(&settings)
        settings.container = try container()
        if Environment.value("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" {
            let endpoint = Environment.value("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254"
            let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
            try check(
                "AWS_EC2_METADATA_SERVICE_ENDPOINT", redactedURL(endpoint), isEndpoint(base),
                "https:// or http:// and a host")
            settings.instanceEndpoint = base
        }
        let home = Environment.value("HOME")
        settings.credentialsFile =
            Environment.value("AWS_SHARED_CREDENTIALS_FILE") ?? home.map { "\($0)/.aws/credentials" }
        settings.configurationFile = Environment.value("AWS_CONFIG_FILE") ?? home.map { "\($0)/.aws/config" }
        settings.profile = Environment.value("AWS_PROFILE") ?? "default"
        settings.region = Environment.value("AWS_REGION") ?? Environment.value("AWS_DEFAULT_REGION")
        if let region = settings.region { try check("AWS_REGION", region, KeyName.isValid(region), "a region's name") }
        settings.endpoint = Environment.value("AWS_ENDPOINT_URL_S3") ?? Environment.value("AWS_ENDPOINT_URL")
        if let endpoint = settings.endpoint {
            try check(
                "AWS_ENDPOINT_URL_S3", redactedURL(endpoint), isEndpoint(endpoint), "https:// or http:// and a host")
        }
        if let text = Environment.value("RESPOOL_S3_PATH_STYLE") {
            settings.usesPathStyle = Bool(text)
            try check("RESPOOL_S3_PATH_STYLE", text, settings.usesPathStyle != nil, "true or false")
        }
        if let text = Environment.value("RESPOOL_S3_ENCRYPTION") {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            settings.encryption = parts.first
            settings.encryptionKey = parts.count > 1 ? parts[1] : nil
            let isRight = text == "AES256" || parts.first == "aws:kms" && isLine(text)
            try check("RESPOOL_S3_ENCRYPTION", text, isRight, "AES256, aws:kms or aws:kms=KEY")
        }
        if let text = Environment.value("RESPOOL_S3_STORAGE_CLASS") {
            settings.storageClass = text
            try check("RESPOOL_S3_STORAGE_CLASS", text, KeyName.isValid(text), "a name, as STANDARD_IA")
        }
        return settings
    }

    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

    /// If only one of the two variables is set, only jobs that need the keys fail.
    private static func setKeys(_ settings: inout S3Settings) {
        switch (Environment.value("AWS_ACCESS_KEY_ID"), Environment.value("AWS_SECRET_ACCESS_KEY")) {
        case (nil, nil): break
        case (let identifier?, let secret?):
            settings.keys = S3Keys(
                identifier: identifier, secret: secret, sessionToken: Environment.value("AWS_SESSION_TOKEN"))
        case (let identifier, _):
            settings.keysFault =
                "the worker has \(identifier == nil ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID") alone: "
                + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together, so set both or none"
        }
    }

    /// The server from which a container gets its keys, from the variables of Amazon's tools.
    private static func container() throws(Failure) -> S3RoleSource? {
        let token = Environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        let tokenFile = Environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        if let path = Environment.value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            try check("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path, path.hasPrefix("/") && isLine(path), "a path")
            return S3RoleSource(url: "http://169.254.170.2" + path, token: token, tokenFile: tokenFile)
        }
        guard let url = Environment.value("AWS_CONTAINER_CREDENTIALS_FULL_URI") else { return nil }
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

    private static func check(_ name: String, _ value: String, _ isRight: Bool, _ right: String) throws(Failure) {
        guard !isRight else { return }
        throw Failure(.invalidRequest, "\(name) is `\(value)`: it must be \(right)")
    }
}
