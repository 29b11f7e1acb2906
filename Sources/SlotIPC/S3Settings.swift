/// The settings for S3 or a compatible store, and its keys.
package struct S3Settings: Codable, Hashable, Sendable {
    /// Keys from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`).
    package var keys: S3Keys?
    /// Why the keys from the environment cannot be used.
    package var keysFault: String?
    /// The files with profiles, read again at each use because they may be replaced (`AWS_SHARED_CREDENTIALS_FILE`,
    /// `AWS_CONFIG_FILE`).
    package var credentialsFile: String?
    /// The file with the regions and endpoints of profiles.
    package var configurationFile: String?
    /// The server from which a container gets the keys of its role (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`,
    /// `…_FULL_URI`).
    package var container: S3RoleSource?
    /// The URL of an instance's metadata service, which has the keys of its role (`AWS_EC2_METADATA_SERVICE_ENDPOINT`).
    package var instanceEndpoint: String?
    /// Seconds until expiring keys of a role are requested again, if the last request returned the same ones.
    package var renewalPause = 30.0
    /// The name of the profile in the files (`AWS_PROFILE`).
    package var profile = "default"
    /// The region, if it is not to be the profile's (`AWS_REGION`).
    package var region: String?
    /// The URL of a store other than Amazon's (`AWS_ENDPOINT_URL_S3`).
    package var endpoint: String?
    /// Whether the bucket's name is in the path instead of the host (`RESPOOL_S3_PATH_STYLE`).
    package var usesPathStyle: Bool?
    /// The server-side encryption of objects, `AES256` or `aws:kms` with a key (`RESPOOL_S3_ENCRYPTION`).
    package var encryption: String?
    /// The id of a KMS key; `nil` for the store's default key.
    package var encryptionKey: String?
    /// The storage class of new objects (`RESPOOL_S3_STORAGE_CLASS`).
    package var storageClass: String?
    /// The size of one part of a larger object in bytes.
    package var partBytes: Int64 = 8 << 20

    package init() {}

    /// The size of one part of an object of that length in bytes: a store accepts at most 10,000 parts.
    package func partBytes(ofObject length: Int64) -> Int64 { max(partBytes, (length + 9_999) / 10_000) }
}

/// A server that returns the keys of a role, and the token for it.
package struct S3RoleSource: Codable, Hashable, Sendable {
    /// The URL from which the keys are requested.
    package var url: String
    /// The value of the request's `Authorization` header.
    package var token: String?
    /// A file with the token, read for each request (`AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`).
    package var tokenFile: String?

    package init(url: String, token: String? = nil, tokenFile: String? = nil) {
        self.url = url
        self.token = token
        self.tokenFile = tokenFile
    }
}

/// The keys with which requests to S3 are signed.
package struct S3Keys: Codable, Hashable, Sendable {
    /// The access key id.
    package var identifier: String
    /// The secret access key.
    package var secret: String
    /// Required with temporary keys.
    package var sessionToken: String?

    package init(identifier: String, secret: String, sessionToken: String? = nil) {
        self.identifier = identifier
        self.secret = secret
        self.sessionToken = sessionToken
    }
}
