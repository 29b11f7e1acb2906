/// Every setting: the one list from which help, the manual page and the documentation result.
package enum Settings {
    package static let redisURL = EnvironmentSetting(
        "RESPOOL_REDIS_URL",
        .text(
            "redis://[user][:password]@host:port/db, rediss://…?ca=FILE&cert=FILE&key=FILE, unix:///path?db=N, "
                + "redis+sentinel://host:port,host:port/name/db or redis+cluster://host:port,host:port"),
        "the Redis server", default: .value("redis://127.0.0.1:6379/0"), for: .queue)
    package static let queue = EnvironmentSetting(
        "RESPOOL_QUEUE",
        .text("a name of 1 to 64 of A-Z a-z 0-9 _ . -; for a worker also several: a,b or a:3,b:1"),
        "the queue; a worker serves several strictly in their order, or by weight", default: .value("default"),
        for: .queue,
        link: "[Several queues](how-to/workers.md#several-queues)")
    package static let slots = EnvironmentSetting(
        "RESPOOL_SLOTS", .whole(1...1024), "jobs that one worker converts at the same time",
        default: .otherwise("the number of cores, or the CPU quota of the container"), for: .worker)
    package static let prefetch = EnvironmentSetting(
        "RESPOOL_PREFETCH", .whole(0...1024),
        "jobs that one worker claims ahead, to fetch their sources while it converts others", default: .value("0"),
        for: .worker, link: "[Fetch sources ahead](how-to/workers.md#fetch-sources-ahead)")
    package static let prefetchReserve = EnvironmentSetting(
        "RESPOOL_PREFETCH_RESERVE", .whole(0...(1 << 50), of: "bytes"),
        "free space of the spool folder, and of the source cache, below which no source is fetched ahead",
        default: .value("1073741824", remark: "1 GiB"), for: .worker)
    package static let grace = EnvironmentSetting(
        "RESPOOL_GRACE", .seconds(0...86_400), "how long running jobs may continue after SIGTERM",
        default: .value("25"),
        for: .worker)
    package static let listen = EnvironmentSetting(
        "RESPOOL_LISTEN", .text("a port on loopback, a numeric ADDRESS:PORT, as 127.0.0.1:9464, or unix:/PATH"),
        "where a worker serves `/healthz`, `/readyz` and `/metrics`, and `serve` the HTTP API",
        default: .otherwise("off; for serve 127.0.0.1:8080"), for: .listeners, link: "[Metrics](metrics.md)")
    package static let apiTokens = EnvironmentSetting(
        "RESPOOL_API_TOKENS", .text("a file that can be read, with a token a line"),
        "the tokens of the HTTP API; without it, the API is served on loopback only", default: .otherwise("none"),
        for: .serve, link: "[Serve the HTTP API](how-to/serve.md#give-tokens)")
    package static let apiHosts = EnvironmentSetting(
        "RESPOOL_API_HOSTS", .list(of: "host names", separator: ","),
        "names by which clients reach the HTTP API, besides localhost and its address", default: .otherwise("none"),
        for: .serve)
    package static let apiConnections = EnvironmentSetting(
        "RESPOOL_API_CONNECTIONS_PER_ADDRESS", .whole(1...10_000),
        "how many connections one address may have to the HTTP API; a proxy is one address", default: .value("16"),
        for: .serve, link: "[Put it behind a proxy](how-to/serve.md#put-it-behind-a-proxy)")
    package static let apiStreams = EnvironmentSetting(
        "RESPOOL_API_STREAMS_PER_ADDRESS", .whole(1...100_000), "how many event streams one address may follow",
        default: .value("16"), for: .serve, link: "[Put it behind a proxy](how-to/serve.md#put-it-behind-a-proxy)")
    package static let apiCertificate = EnvironmentSetting(
        "RESPOOL_API_TLS_CERTIFICATE", .text("a file that can be read, in PEM"),
        "the certificate with which the HTTP API serves TLS, followed by those of its issuers; a renewed file is taken up without a restart",
        default: .otherwise("no TLS"), for: .serve, link: "[Serve TLS](how-to/serve.md#serve-tls)")
    package static let apiKey = EnvironmentSetting(
        "RESPOOL_API_TLS_KEY", .text("a file that not everybody can read, in PEM"),
        "the private key of the certificate", default: .otherwise("none"), for: .serve,
        link: "[Serve TLS](how-to/serve.md#serve-tls)")
    package static let apiBasePath = EnvironmentSetting(
        "RESPOOL_API_BASE_PATH", .text("a path, as /respool"), "the path below which a proxy has the HTTP API",
        default: .otherwise("none"), for: .serve)
    package static let apiProxies = EnvironmentSetting(
        "RESPOOL_API_PROXIES", .list(of: "addresses, or unix", separator: ","),
        "proxies whose header X-Forwarded-For says which client a request is from", default: .otherwise("none"),
        for: .serve)
    /// The value of `outputRoot` with which a worker writes only to URLs, as its operator chose.
    package static let noFolder = "none"
    package static let sourceRoots = EnvironmentSetting(
        "RESPOOL_SOURCE_ROOTS", .list(of: "folders", separator: ":"),
        "the folders of local sources; without one every `file` source is refused", default: .otherwise("none"),
        for: .worker)
    package static let outputRoot = EnvironmentSetting(
        "RESPOOL_OUTPUT_ROOT", .text("a folder, or `none`"),
        "the folder of the outputs; a worker with `none` writes only to URLs; `serve` lets clients download from the folder",
        default: .otherwise("must be set for a worker"),
        for: .listeners)
    package static let uploadFolder = EnvironmentSetting(
        "RESPOOL_UPLOAD_DIR", .text("a folder"),
        "where `serve` stores uploads, and workers write previews; workers need it among their source roots too",
        default: .otherwise("no uploads, no previews"), for: .listeners,
        link: "[Take uploads](how-to/serve.md#take-uploads)")
    /// The folder of previews in the folder of uploads.
    package static func previewFolder(of uploads: String) -> String { "\(uploads)/previews" }
    package static let uploadMaxBytes = EnvironmentSetting(
        "RESPOOL_UPLOAD_MAX_BYTES", .whole(1...(1 << 50), of: "bytes"), "the maximum size of an upload",
        default: .value("2147483648", remark: "2 GiB"), for: .serve)
    package static let uploadAge = EnvironmentSetting(
        "RESPOOL_UPLOAD_AGE", .whole(60...1_000_000_000, of: "seconds"),
        "how long an upload is kept after its last byte, or after the start of the last job that reads it",
        default: .value("86400", remark: "a day"), for: .serve)
    package static let spoolFolder = EnvironmentSetting(
        "RESPOOL_SPOOL_DIR", .text("a folder"),
        "where sources from the network are spooled, and outputs for stores and URLs are staged",
        default: .otherwise("`respool-` and the user's number in `/tmp`"), for: .slots)
    package static let allowedHosts = EnvironmentSetting(
        "RESPOOL_ALLOW_HOSTS", .list(of: hosts, separator: ","), "private hosts that sources may come from",
        default: .otherwise("none"), for: .slots)
    package static let allowedOutputHosts = EnvironmentSetting(
        "RESPOOL_ALLOW_OUTPUT_HOSTS", .list(of: hosts, separator: ","),
        "private hosts that outputs and callbacks may go to", default: .otherwise("none"), for: .slots)
    package static let cacheFolder = EnvironmentSetting(
        "RESPOOL_CACHE_DIR", .text("a folder"), "the folder of the source cache", default: .otherwise("off"),
        for: .slots,
        link: "[Cache sources](how-to/sources-and-outputs.md#cache-sources)")
    package static let cacheBytes = EnvironmentSetting(
        "RESPOOL_CACHE_BYTES", .whole(1...(1 << 50), of: "bytes"), "the size of the source cache",
        default: .value("10737418240", remark: "10 GiB"), for: .slots)
    package static let cacheAge = EnvironmentSetting(
        "RESPOOL_CACHE_AGE", .whole(1...1_000_000_000, of: "seconds"), "how long an unused source stays in the cache",
        default: .value("86400", remark: "a day"), for: .slots)
    package static let maxPerHost = EnvironmentSetting(
        "RESPOOL_MAX_PER_HOST", .whole(1...1024),
        "the maximum number of sources that are fetched from one host at the same time",
        default: .otherwise("no limit"), for: .slots,
        link: "[Limit the load on a host](how-to/sources-and-outputs.md#limit-the-load-on-a-host)")
    package static let proxy = EnvironmentSetting(
        "RESPOOL_PROXY", .text("a URL, as http://[user:password@]proxy.example.org:3128"), "the proxy for requests",
        default: .otherwise("none"), for: .slots, link: "[Proxies](how-to/proxies.md)")
    package static let noProxy = EnvironmentSetting(
        "RESPOOL_NO_PROXY", .list(of: hosts, separator: ","), "hosts that are reached without the proxy",
        default: .otherwise("none"), for: .slots)
    package static let sourceSchemes = EnvironmentSetting(
        "RESPOOL_SOURCE_SCHEMES", .words(of: "ftp", "ftps", "sftp"),
        "schemes of sources besides `https`, `http`, `s3` and `file`", default: .otherwise("none"), for: .slots,
        link: "[FTP and SFTP](how-to/sources-and-outputs.md#use-ftp-and-sftp)")
    package static let outputSchemes = EnvironmentSetting(
        "RESPOOL_OUTPUT_SCHEMES", .words(of: "ftp", "ftps", "sftp"),
        "schemes of outputs besides `https`, `http` and `s3`", default: .otherwise("none"), for: .slots)
    package static let knownHostsFile = EnvironmentSetting(
        "RESPOOL_SSH_KNOWN_HOSTS", .text("a file that can be read, as OpenSSH's known_hosts"),
        "the keys of SFTP servers; required where `sftp` is among the schemes", default: .otherwise("none"), for: .slots
    )
    package static let sshKeyFile = EnvironmentSetting(
        "RESPOOL_SSH_KEY_FILE", .text("a file that can be read"), "the private key to log in to SFTP servers with",
        default: .otherwise("none"), for: .slots)
    package static let certificateFile = EnvironmentSetting(
        "RESPOOL_CA_FILE", .text("a PEM file"), "the certificate authorities that servers are checked against",
        default: .otherwise("the system's"), for: .slots)
    package static let credentialsFile = EnvironmentSetting(
        "RESPOOL_CREDENTIALS_FILE", .text("a file of credentials"), "credentials for web servers",
        default: .otherwise("none"), for: .slots,
        link: "[Use credentials](how-to/sources-and-outputs.md#use-credentials)")
    package static let credentials = EnvironmentSetting(
        "RESPOOL_CREDENTIALS", .text("the lines of a file of credentials"),
        "credentials for web servers, without a file",
        default: .otherwise("none"),
        for: .slots)
    package static let s3PathStyle = EnvironmentSetting(
        "RESPOOL_S3_PATH_STYLE", .boolean, "whether the bucket stands in the path of a URL, not in its host",
        default: .otherwise("as the endpoint needs it"), for: .slots, link: "[S3](how-to/s3.md)")
    package static let s3Encryption = EnvironmentSetting(
        "RESPOOL_S3_ENCRYPTION", .text("AES256, aws:kms or aws:kms=KEY"), "how a store encrypts outputs",
        default: .otherwise("the bucket's"), for: .slots)
    package static let s3StorageClass = EnvironmentSetting(
        "RESPOOL_S3_STORAGE_CLASS", .text("a name, as STANDARD_IA"), "the storage class of outputs",
        default: .otherwise("the bucket's"), for: .slots)
    package static let maxSourceBytes = EnvironmentSetting(
        "RESPOOL_MAX_SOURCE_BYTES", .whole(1...(1 << 50), of: "bytes"), "the maximum size of a source",
        default: .value("21474836480", remark: "20 GiB"), for: .slots)
    package static let maxOutputBytes = EnvironmentSetting(
        "RESPOOL_MAX_OUTPUT_BYTES", .whole(1...(1 << 50), of: "bytes"), "the maximum size of an output",
        default: .value("21474836480", remark: "20 GiB"), for: .slots)
    package static let maxSegments = EnvironmentSetting(
        "RESPOOL_MAX_SEGMENTS", .whole(1...10_000_000),
        "the maximum number of segments, keys and playlists that one HLS source may name",
        default: .value("100000"), for: .slots)
    package static let maxRedirects = EnvironmentSetting(
        "RESPOOL_MAX_REDIRECTS", .whole(0...50),
        "the maximum number of redirects that a request for a source follows", default: .value("20"), for: .slots)
    package static let minOutputRate = EnvironmentSetting(
        "RESPOOL_MIN_OUTPUT_RATE", .whole(1...1_000_000_000, of: "bytes a second"),
        "the rate that a server or store of outputs must take; a slower request is ended",
        default: .value("16384"), for: .slots)
    package static let maxDuration = EnvironmentSetting(
        "RESPOOL_MAX_DURATION", .whole(1...1_000_000_000, of: "seconds"), "the maximum duration of a source",
        default: .value("360000", remark: "100 h"), for: .slots)
    package static let maxExpansion = EnvironmentSetting(
        "RESPOOL_MAX_EXPANSION", .whole(1...1_000_000_000),
        "the maximum number of decoded bytes for each byte of a source",
        default: .value("100000"), for: .slots)
    package static let maxPacketRate = EnvironmentSetting(
        "RESPOOL_MAX_PACKET_RATE", .whole(1000...1_000_000_000),
        "the maximum number of packets of a source for each second of audio",
        default: .value("100000"), for: .slots)
    package static let maxChannels = EnvironmentSetting(
        "RESPOOL_MAX_CHANNELS", .whole(1...64), "the maximum number of channels of a source", default: .value("64"),
        for: .slots)
    package static let maxSampleRate = EnvironmentSetting(
        "RESPOOL_MAX_SAMPLE_RATE", .whole(8000...1_536_000, of: "Hz"), "the maximum sample rate of a source",
        default: .value("1536000"), for: .slots)
    package static let maxTracks = EnvironmentSetting(
        "RESPOOL_MAX_TRACKS", .whole(1...1000), "the maximum number of tracks of any kind in a source",
        default: .value("256"),
        for: .slots)
    package static let maxChapters = EnvironmentSetting(
        "RESPOOL_MAX_CHAPTERS", .whole(0...1_000_000),
        "the maximum number of chapters that are carried over; if a source has more, all are left out",
        default: .value("10000"), for: .slots)
    package static let maxTagBytes = EnvironmentSetting(
        "RESPOOL_MAX_TAG_BYTES", .whole(0...(256 << 20), of: "bytes"),
        "the maximum size of a source's tags with their pictures; what is larger is left out with a warning (in WMA and in RIFF's "
            + "own chunks without)", default: .value("16777216", remark: "16 MiB"), for: .slots)
    package static let maxPictureBytes = EnvironmentSetting(
        "RESPOOL_MAX_PICTURE_BYTES", .whole(0...(256 << 20), of: "bytes"),
        "the maximum size of one picture; a larger one is left out likewise",
        default: .value("16777216", remark: "16 MiB"),
        for: .slots)
    package static let maxCrashes = EnvironmentSetting(
        "RESPOOL_MAX_CRASHES", .whole(1...1_000_000),
        "lost leases and crashed child processes until a job fails as `crashed`",
        default: .value("3"), for: .worker)
    package static let lease = EnvironmentSetting(
        // A beat a second must fit in well.
        "RESPOOL_LEASE", .seconds(3...3600), "how long a lease lasts without a heartbeat", default: .value("10"),
        for: .worker)
    package static let waitReplicas = EnvironmentSetting(
        "RESPOOL_WAIT_REPLICAS", .whole(0...100),
        "replicas of Redis that must have acknowledged a publication before the output becomes visible; `respool enqueue "
            + "--durable` waits for as many, at least 1; `respool doctor` warns where Redis has fewer",
        default: .value("0"),
        for: .replicas, link: "[Failover](queue.md#limits-of-the-promise)")
    package static let waitTimeout = EnvironmentSetting(
        "RESPOOL_WAIT_TIMEOUT", .seconds(0.01...60),
        "how long to wait for replicas each time, in a worker at most a quarter of the lease; then the worker tries again",
        default: .value("1"), for: .replicas)
    package static let keepCompleted = EnvironmentSetting(
        "RESPOOL_KEEP_COMPLETED", .countAndAge, "how many completed jobs are kept, and how long",
        default: .value("10000/7d"), for: .worker)
    package static let keepFailed = EnvironmentSetting(
        "RESPOOL_KEEP_FAILED", .countAndAge, "how many failed jobs are kept, and how long",
        default: .value("10000/30d"), for: .worker)
    package static let keepCancelled = EnvironmentSetting(
        "RESPOOL_KEEP_CANCELLED", .countAndAge, "how many cancelled jobs are kept, and how long",
        default: .value("1000/7d"), for: .worker)
    package static let keepCallbacks = EnvironmentSetting(
        "RESPOOL_KEEP_CALLBACKS", .countAndAge, "how many finished callbacks are kept, and how long",
        default: .value("1000/7d"),
        for: .worker)
    package static let keepEvents = EnvironmentSetting(
        "RESPOOL_KEEP_EVENTS", .whole(100...100_000_000),
        "about how many events are kept; a follower that was away for longer reads the jobs again",
        default: .value("10000"),
        for: .worker)
    package static let callbackSecret = EnvironmentSetting(
        "RESPOOL_CALLBACK_SECRET", .text("1 to 4 secrets of whsec_ and 24 to 64 bytes in Base64, separated by blanks"),
        "what callbacks are signed with", default: .otherwise("no callbacks are sent"), for: .worker)
    package static let callbackSecretFile = EnvironmentSetting(
        "RESPOOL_CALLBACK_SECRET_FILE", .text("a readable file of 1 to 4 such secrets, as in RESPOOL_CALLBACK_SECRET"),
        "a file with the secrets that callbacks are signed with",
        default: .otherwise("no callbacks are sent"), for: .worker)
    package static let transcodeTimeout = EnvironmentSetting(
        "RESPOOL_TRANSCODE_TIMEOUT", .whole(2...86_400, of: "seconds"),
        "how long a transcoder may report nothing before it is killed", default: .value("30"), for: .slots)
    package static let folderTimeout = EnvironmentSetting(
        "RESPOOL_FOLDER_TIMEOUT", .whole(1...86_400, of: "seconds"),
        "how long the file system of a root, the spool or the cache may not respond until the worker releases its jobs and claims none",
        default: .value("30"), for: .worker)
    package static let jobsPerPair = EnvironmentSetting(
        "RESPOOL_JOBS_PER_PAIR", .whole(0...1_000_000),
        "jobs until the two child processes of a slot are replaced; 1: no two jobs share a process; 0: never",
        default: .value("1000"), for: .worker)
    package static let pairPer = EnvironmentSetting(
        "RESPOOL_PAIR_PER", .word("limit_key", "group"), "jobs in which this field differs never share processes",
        default: .otherwise("all jobs share them"), for: .worker,
        link: "[Separate tenants](how-to/workers.md#separate-tenants)")
    package static let sandbox = EnvironmentSetting(
        "RESPOOL_SANDBOX", .word("on", "require", "off"),
        "`on`: child processes are confined as far as the kernel allows, and the worker logs once what is missing; `require`: the "
            + "worker does not start if something is missing, or if its Redis is on TCP without a password; `off`: for sanitizers "
            + "and debuggers", default: .value("on"), for: .slots)
    package static let memoryLimit = EnvironmentSetting(
        "RESPOOL_MEMORY_LIMIT", .text("off, or nothing"),
        "`off` lifts the limit of the child processes' address space (for sanitizer builds)",
        default: .otherwise("4 GiB"),
        for: .slots)
    package static let stateFolder = EnvironmentSetting(
        "RESPOOL_STATE_DIR", .text("a folder"),
        "the folder of the file by which `respool worker --check` sees that a worker is alive",
        default: .value("/dev/shm"),
        for: .worker)
    package static let upFolder = EnvironmentSetting(
        "RESPOOL_UP_DIR", .text("a folder"), "where `respool up` keeps jobs, uploads, outputs and logs",
        default: .otherwise("`respool` in `$XDG_DATA_HOME`, or in `~/.local/share`"), for: .up,
        link: "[One machine](how-to/one-machine.md)")
    package static let log = EnvironmentSetting(
        "RESPOOL_LOG", .word("debug", "info", "warning", "error"), "the lowest level that is logged",
        default: .value("info"),
        for: .worker)

    /// All of them, as the documentation lists them.
    package static let all: [any SettingDeclaration] = own + traces

    private static let own: [any SettingDeclaration] = [
        redisURL, queue, slots, prefetch, prefetchReserve, grace, listen, apiTokens, apiHosts, apiConnections,
        apiStreams, apiCertificate, apiKey, apiBasePath, apiProxies, sourceRoots, outputRoot,
        uploadFolder, uploadMaxBytes, uploadAge,
        spoolFolder,
        allowedHosts, allowedOutputHosts,
        cacheFolder, cacheBytes, cacheAge, maxPerHost, proxy, noProxy, sourceSchemes, outputSchemes, knownHostsFile,
        sshKeyFile, certificateFile, credentialsFile, credentials, s3PathStyle, s3Encryption, s3StorageClass,
        maxSourceBytes, maxOutputBytes, maxSegments, maxRedirects, minOutputRate, maxDuration, maxExpansion,
        maxPacketRate,
        maxChannels,
        maxSampleRate,
        maxTracks, maxChapters, maxTagBytes, maxPictureBytes, maxCrashes, lease, waitReplicas, waitTimeout,
        keepCompleted,
        keepFailed, keepCancelled, keepCallbacks, keepEvents, callbackSecret, callbackSecretFile, transcodeTimeout,
        folderTimeout, jobsPerPair, pairPer, sandbox, memoryLimit, stateFolder, upFolder, log,
    ]

    private static let hosts = "hosts, addresses or networks as 10.0.0.0/8"

    /// The table of the documentation.
    package static var markdown: String {
        let rows = all.map { setting in
            let fallback =
                switch setting.fallback {
                case .value(let value, let remark): "`\(value)`" + (remark.map { " (\($0))" } ?? "")
                case .otherwise(let words): words
                }
            let meaning = setting.meaning + (setting.link.map { " (\($0))" } ?? "")
            return "| `\(setting.name)` | \(meaning) | \(setting.expected) | \(fallback) | \(setting.reader.rawValue) |"
        }
        let head = ["| variable | meaning | value | default | used by |", "|---|---|---|---|---|"]
        return (head + rows).map { $0 + "\n" }.joined()
    }
}
