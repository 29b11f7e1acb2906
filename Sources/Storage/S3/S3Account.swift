import JobSchema
import SlotIPC

/// Whose keys requests to S3 are signed with, and where they go.
struct S3Account {
    let settings: S3Settings
    private let roleKeys: RoleKeys

    init(_ policy: TransferPolicy) {
        settings = policy.s3
        roleKeys = RoleKeys(policy.s3, certificateFile: policy.certificateFile)
    }

    /// The keys: the environment's, or the profile's, which is read anew, or those of a role.
    func keys() throws(Failure) -> S3Keys {
        if let keys = settings.keys { return keys }
        if let fault = settings.keysFault { throw Failure(.sourceDenied, fault, retryable: true) }
        for profile in profiles {
            guard let identifier = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] else {
                continue
            }
            return S3Keys(identifier: identifier, secret: secret, sessionToken: profile["aws_session_token"])
        }
        var reason = ""
        do throws(Failure) {
            if let keys = try roleKeys.keys() { return keys }
        } catch { reason = "; \(error.message)" }
        throw Failure(
            .sourceDenied,
            "the worker has no keys for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile '\(settings.profile)'\(reason)",
            retryable: true)
    }

    var region: String {
        settings.region ?? profiles.lazy.compactMap { $0["region"] }.first ?? "us-east-1"
    }

    /// How a request about the object is made.
    func target(of object: S3Object, query: String = "") throws(Failure) -> RequestTarget {
        try target(of: object, key: object.key, query)
    }

    /// How a request about the object's bucket is made.
    func target(ofBucketOf object: S3Object, query: String) throws(Failure) -> RequestTarget {
        try target(of: object, key: "", query)
    }

    private func target(of object: S3Object, key: String, _ query: String) throws(Failure) -> RequestTarget {
        let (keys, region) = (try keys(), region)
        return RequestTarget(
            url: url(bucket: object.bucket, key: key, query: query, region: region), name: object.text,
            authorization: .s3(keys, region: region))
    }

    /// The URL of an object, or of its bucket for an empty key, with a query whose parts are encoded and in order.
    ///
    /// The bucket stands before Amazon's hosts, unless a dot in its name keeps their certificate from fitting, and in the path
    /// of other stores.
    private func url(bucket: String, key: String, query: String, region: String) -> String {
        let endpoint = settings.endpoint ?? "https://s3.\(region).amazonaws.com"
        let isInPath = settings.usesPathStyle ?? (settings.endpoint != nil || bucket.contains("."))
        let scheme = endpoint.prefix { $0 != "/" } + "//"
        let host = endpoint.dropFirst(scheme.count)
        let place = isInPath ? "\(scheme)\(host)/\(bucket)" : "\(scheme)\(bucket).\(host)"
        let path = key.isEmpty ? (isInPath ? "" : "/") : "/" + S3Object.encoded(key)
        return place + path + (query.isEmpty ? "" : "?" + query)
    }

    private var profiles: [[String: String]] {
        let name = settings.profile
        let credentials = settings.credentialsFile.flatMap { ProfileFile(path: $0) }
        let configuration = settings.configurationFile.flatMap { ProfileFile(path: $0) }
        return [
            credentials?[name], configuration?[name == "default" ? name : "profile \(name)"],
        ].compactMap { $0 }
    }
}
