package import JobSchema
import SlotIPC

/// The keys that sign S3 requests, and the endpoint that they are sent to.
package struct S3Account {
    let settings: S3Settings
    private let roleKeys: RoleKeys

    init(_ policy: TransferPolicy) {
        settings = policy.s3
        roleKeys = RoleKeys(policy.s3, certificateFile: policy.certificateFile)
    }

    /// The keys from the environment, from the profile, which is read each time, or from a role.
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
            "the worker has no S3 keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile '\(settings.profile)'\(reason)",
            retryable: true)
    }

    var region: String {
        settings.region ?? profiles.lazy.compactMap { $0["region"] }.first ?? "us-east-1"
    }

    /// The URL and credentials of a request for the object.
    package func target(of object: S3Object, query: String = "") throws(Failure) -> RequestTarget {
        try target(of: object, key: object.key, query)
    }

    /// The URL and credentials of a request for the object's bucket.
    package func target(ofBucketOf object: S3Object, query: String) throws(Failure) -> RequestTarget {
        try target(of: object, key: "", query)
    }

    private func target(of object: S3Object, key: String, _ query: String) throws(Failure) -> RequestTarget {
        let (keys, region) = (try keys(), region)
        return RequestTarget(
            url: url(bucket: object.bucket, key: key, query: query, region: region), name: object.text,
            authorization: .s3(keys, region: region))
    }

    /// The URL of an object, or of its bucket if the key is empty. The parts of the query must be encoded and sorted.
    ///
    /// For Amazon, the bucket is a subdomain, unless its name contains a dot, which the wildcard certificate does not cover.
    /// For other stores, it is part of the path.
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
