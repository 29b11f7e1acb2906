package import JobSchema

/// What `respool-transfer` may touch, and for how long and how much.
package struct TransferPolicy: Codable, Hashable, Sendable {
    /// Folders under which a local source may lie (`RESPOOL_SOURCE_ROOTS`).
    package var sourceRoots: [String] = []
    /// The folder of the outputs (`RESPOOL_OUTPUT_ROOT`).
    package var outputRoot: String?
    /// The exact source file allowed beside the roots: what a person named by hand.
    package var grantedSource: String?
    /// The exact output files allowed beside the root, likewise.
    package var grantedOutputs: [String] = []
    /// Hosts, addresses or networks (`10.0.0.0/8`) that sources may come from although they are private (`RESPOOL_ALLOW_HOSTS`).
    package var allowedHosts: [String] = []
    /// Likewise those that outputs and callbacks may go to (`RESPOOL_ALLOW_OUTPUT_HOSTS`).
    package var allowedOutputHosts: [String] = []
    /// Ports that no connection is made to, whatever host is allowed: those of the worker's Redis.
    package var closedPorts: [UInt16] = []
    /// The URL of the proxy that requests go through (`RESPOOL_PROXY`).
    package var proxy: String?
    /// Hosts, addresses or networks that are reached without it (`RESPOOL_NO_PROXY`).
    package var proxyExceptions: [String] = []
    /// A PEM file of certificate authorities instead of the system's (`RESPOOL_CA_FILE`).
    package var certificateFile: String?
    package var s3 = S3Settings()
    package var credentials = CredentialSettings()
    /// Schemes besides `https`, `http` and `s3` that sources may have (`RESPOOL_SOURCE_SCHEMES`).
    package var sourceSchemes: Set<FileScheme> = []
    /// Schemes besides `https`, `http` and `s3` that outputs may have (`RESPOOL_OUTPUT_SCHEMES`).
    package var outputSchemes: Set<FileScheme> = []
    /// The keys of SFTP servers, in the form of OpenSSH's `known_hosts` (`RESPOOL_SSH_KNOWN_HOSTS`).
    package var knownHostsFile: String?
    /// The private key that SFTP servers are shown, if they are shown one (`RESPOOL_SSH_KEY_FILE`).
    package var sshKeyFile: String?
    /// Where sources from the network are spooled, and outputs for stores and URLs wait (`RESPOOL_SPOOL_DIR`).
    package var spoolFolder = "/tmp"
    /// Where whole sources are kept for later jobs; without it none is (`RESPOOL_CACHE_DIR`).
    package var cacheFolder: String?
    /// Bytes of all sources that are kept (`RESPOOL_CACHE_BYTES`).
    package var maxCacheBytes: Int64 = 10 << 30
    /// Seconds that a source is kept which nobody asks for (`RESPOOL_CACHE_AGE`).
    package var maxCacheAge: Int64 = 86_400
    /// Sources that are fetched from one host at a time by all who share the spool folder (`RESPOOL_MAX_PER_HOST`).
    package var maxPerHost: Int?
    /// Bytes.
    package var maxSourceBytes: Int64 = 20 << 30
    /// Bytes.
    package var maxOutputBytes: Int64 = 20 << 30
    package var maxRedirects = 5
    /// How deep playlists may name each other below the source: a master playlist, a media playlist, a segment.
    package var maxPlaylistDepth = 2
    /// Segments, keys and playlists that one source may name (`RESPOOL_MAX_SEGMENTS`).
    package var maxNestedSources = 100_000
    /// Bytes of one playlist.
    package var maxPlaylistBytes: Int64 = 8 << 20
    /// Seconds until a connection stands.
    package var connectTimeout: Double = 10
    /// Seconds until the first byte of an answer.
    package var firstByteTimeout: Double = 30
    /// Seconds without a byte before a transfer counts as stalled.
    package var stallTimeout: Double = 30
    /// How often a broken transfer is resumed without much headway before the job fails.
    package var maxResumes = 5
    /// Bytes of address space.
    package var memoryLimit: UInt64 = 4 << 30

    package init() {}
}
