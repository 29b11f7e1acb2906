package import JobSchema

/// What `respool-transfer` may access, and its timeouts and limits.
package struct TransferPolicy: Codable, Hashable, Sendable {
    /// Folders that may contain local sources (`RESPOOL_SOURCE_ROOTS`).
    package var sourceRoots: [String] = []
    /// The folder for outputs (`RESPOOL_OUTPUT_ROOT`).
    package var outputRoot: String?
    /// The folder for previews, a second one for outputs that are given by their whole path (`RESPOOL_UPLOAD_DIR`).
    package var previewFolder: String?
    /// A source file that is allowed outside the roots, because a user named it on the command line.
    package var grantedSource: String?
    /// Output files that are allowed outside the root, for the same reason.
    package var grantedOutputs: [String] = []
    /// Private hosts, addresses or networks (`10.0.0.0/8`) that are allowed for sources (`RESPOOL_ALLOW_HOSTS`).
    package var allowedHosts: [String] = []
    /// Private hosts, addresses or networks that are allowed for outputs and callbacks (`RESPOOL_ALLOW_OUTPUT_HOSTS`).
    package var allowedOutputHosts: [String] = []
    /// Ports to which no connection is made on any host: those of the worker's Redis.
    package var closedPorts: [UInt16] = []
    /// The URL of the proxy for requests (`RESPOOL_PROXY`).
    package var proxy: String?
    /// Hosts, addresses or networks that are reached without the proxy (`RESPOOL_NO_PROXY`).
    package var proxyExceptions: [String] = []
    /// A PEM file of certificate authorities instead of the system's (`RESPOOL_CA_FILE`).
    package var certificateFile: String?
    /// The object store, and the keys with which requests to it are signed.
    package var s3 = S3Settings()
    /// Credentials of web and file servers, by name (`RESPOOL_CREDENTIALS`, `RESPOOL_CREDENTIALS_FILE`).
    package var credentials = CredentialSettings()
    /// Additional schemes for sources besides `https`, `http` and `s3` (`RESPOOL_SOURCE_SCHEMES`).
    package var sourceSchemes: Set<FileScheme> = []
    /// Additional schemes for outputs besides `https`, `http` and `s3` (`RESPOOL_OUTPUT_SCHEMES`).
    package var outputSchemes: Set<FileScheme> = []
    /// The keys of SFTP servers, in the format of OpenSSH's `known_hosts` (`RESPOOL_SSH_KNOWN_HOSTS`).
    package var knownHostsFile: String?
    /// The private key for SFTP servers, if one is used (`RESPOOL_SSH_KEY_FILE`).
    package var sshKeyFile: String?
    /// The folder for spooled sources from the network, and for staged outputs of stores and URLs
    /// (`RESPOOL_SPOOL_DIR`).
    package var spoolFolder = "/tmp"
    /// The folder in which complete sources are cached for later jobs; `nil` disables the cache (`RESPOOL_CACHE_DIR`).
    package var cacheFolder: String?
    /// The maximum size of the cache in bytes (`RESPOOL_CACHE_BYTES`).
    package var maxCacheBytes: Int64 = 10 << 30
    /// Seconds that an unused source is kept (`RESPOOL_CACHE_AGE`).
    package var maxCacheAge: Int64 = 86_400
    /// How many sources are fetched from one host at a time by all processes that share the spool folder
    /// (`RESPOOL_MAX_PER_HOST`).
    package var maxPerHost: Int?
    /// Free bytes of the folders of spools below which no source is fetched before its job begins
    /// (`RESPOOL_PREFETCH_RESERVE`).
    package var prefetchReserve: Int64 = 1 << 30
    /// Bytes.
    package var maxSourceBytes: Int64 = 20 << 30
    /// Bytes.
    package var maxOutputBytes: Int64 = 20 << 30
    /// Redirects that one request may follow (`RESPOOL_MAX_REDIRECTS`). The default is that of browsers (Fetch, section 4.4):
    /// episodes of podcasts are behind eight and more servers that count downloads.
    package var maxRedirects = 20
    /// Bytes that a server of outputs must take each second (`RESPOOL_MIN_OUTPUT_RATE`). A stall is no bound: a server that takes
    /// or sends a byte from time to time never stalls.
    package var minOutputRate = 16_384
    /// How deep playlists may be nested below the source: a master playlist, a media playlist, a segment.
    package var maxPlaylistDepth = 2
    /// Segments, keys and playlists that one source may reference (`RESPOOL_MAX_SEGMENTS`).
    package var maxNestedSources = 100_000
    /// The maximum size of a playlist in bytes.
    package var maxPlaylistBytes: Int64 = 8 << 20
    /// Seconds until a connection must be established.
    package var connectTimeout: Double = 10
    /// Seconds until the first byte of a response.
    package var firstByteTimeout: Double = 30
    /// Seconds without a byte after which a transfer is considered stalled.
    package var stallTimeout: Double = 30
    /// How often a broken transfer is resumed without significant progress before the job fails.
    package var maxResumes = 5
    /// Bytes of address space.
    package var memoryLimit: UInt64 = 4 << 30

    package init() {}
}
