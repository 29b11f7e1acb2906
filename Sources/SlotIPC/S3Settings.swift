/// How S3, or a store that speaks as it does, is reached, and with whose keys.
package struct S3Settings: Codable, Hashable, Sendable {
    /// Keys of the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`).
    package var keys: S3Keys?
    /// Why those of the environment cannot be used.
    package var keysFault: String?
    /// Files of profiles, read whenever keys are wanted: they may be replaced meanwhile
    /// (`AWS_SHARED_CREDENTIALS_FILE`, `AWS_CONFIG_FILE`).
    package var credentialsFile: String?
    package var configurationFile: String?
    /// Where a container is given the keys of its role (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, `…_FULL_URI`).
    package var container: S3RoleSource?
    /// The URL of a machine's metadata, which has the keys of its role (`AWS_EC2_METADATA_SERVICE_ENDPOINT`).
    package var instanceEndpoint: String?
    /// Seconds until keys of a role that are about to end are asked for again, where the same ones were given.
    package var renewalPause = 30.0
    /// Which of the files' profiles (`AWS_PROFILE`).
    package var profile = "default"
    /// The region, where the profile has none or another (`AWS_REGION`).
    package var region: String?
    /// The URL of a store other than Amazon's (`AWS_ENDPOINT_URL_S3`).
    package var endpoint: String?
    /// Whether the bucket stands in the path rather than before the host (`RESPOOL_S3_PATH_STYLE`).
    package var usesPathStyle: Bool?
    /// How objects are encrypted by the store, `AES256` or `aws:kms`, and with which of its keys (`RESPOOL_S3_ENCRYPTION`).
    package var encryption: String?
    package var encryptionKey: String?
    /// The class of storage of new objects (`RESPOOL_S3_STORAGE_CLASS`).
    package var storageClass: String?
    /// Bytes of one part of a larger object.
    package var partBytes: Int64 = 8 << 20

    package init() {}

    /// Bytes of one part of an object of that length: a store takes 10,000 of one.
    package func partBytes(ofObject length: Int64) -> Int64 { max(partBytes, (length + 9_999) / 10_000) }
}

/// A server that gives the keys of a role, and what it is shown for them.
package struct S3RoleSource: Codable, Hashable, Sendable {
    package var url: String
    package var token: String?
    /// A file with the token, which is read for each request (`AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`).
    package var tokenFile: String?

    package init(url: String, token: String? = nil, tokenFile: String? = nil) {
        self.url = url
        self.token = token
        self.tokenFile = tokenFile
    }
}

/// What requests to S3 are signed with.
package struct S3Keys: Codable, Hashable, Sendable {
    package var identifier: String
    package var secret: String
    /// Goes with keys that end after some time.
    package var sessionToken: String?

    package init(identifier: String, secret: String, sessionToken: String? = nil) {
        self.identifier = identifier
        self.secret = secret
        self.sessionToken = sessionToken
    }
}
