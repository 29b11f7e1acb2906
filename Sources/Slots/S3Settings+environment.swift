import Lifecycle
package import SlotProtocol

extension S3Settings {
    /// The settings that the variables of Amazon's own tools ask for, and those of respool.
    package static func fromEnvironment() throws(Failure) -> S3Settings {
        var settings = S3Settings()
        settings.keys = try keys()
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

    private static func keys() throws(Failure) -> S3Keys? {
        switch (Environment.value("AWS_ACCESS_KEY_ID"), Environment.value("AWS_SECRET_ACCESS_KEY")) {
        case (nil, nil): return nil
        case (let identifier?, let secret?):
            return S3Keys(
                identifier: identifier, secret: secret, sessionToken: Environment.value("AWS_SESSION_TOKEN"))
        default:
            throw Failure(
                .invalidRequest, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both or none")
        }
    }

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
