import Glibc
package import JobSchema
import Lifecycle
import MediaTypes
package import SlotIPC

/// The configuration of slots, and what their jobs may access.
package struct SlotConfiguration: Sendable {
    /// What `respool-transfer` may reach and write.
    package var policy: TransferPolicy
    /// The limits of `respool-transcode`.
    package var transcode: TranscodePolicy
    /// The timeout after which a transcoder that sends nothing is killed.
    package var silence: Duration
    /// The number of jobs after which a pair is replaced; `nil` for never.
    package var jobsPerPair: Int?
    /// Which jobs share a pair; `nil` for all.
    package var pairScope: PairScope?
    /// Whether a slot may start if the kernel cannot confine its children.
    package var sandbox = SandboxMode.on
    /// A descriptor that `respool-transfer` gets as `ChildDescriptor.source`; the caller keeps it open.
    package var source: CInt?

    package init(
        policy: TransferPolicy = TransferPolicy(), transcode: TranscodePolicy = TranscodePolicy(),
        silence: Duration = .seconds(30), jobsPerPair: Int? = 1000
    ) {
        self.policy = policy
        self.transcode = transcode
        self.silence = silence
        self.jobsPerPair = jobsPerPair
    }

    /// The configuration from the `RESPOOL_*` variables; throws an error that names an invalid value.
    package static func fromEnvironment() throws(Failure) -> SlotConfiguration {
        var configuration = SlotConfiguration()
        configuration.policy.sourceRoots = list("RESPOOL_SOURCE_ROOTS", separator: ":")
        configuration.policy.outputRoot = Environment.value("RESPOOL_OUTPUT_ROOT")
        configuration.policy.allowedHosts = list("RESPOOL_ALLOW_HOSTS", separator: ",")
        for host in configuration.policy.allowedHosts { try AllowedHost.check(host, from: "RESPOOL_ALLOW_HOSTS") }
        configuration.policy.allowedOutputHosts = list("RESPOOL_ALLOW_OUTPUT_HOSTS", separator: ",")
        for host in configuration.policy.allowedOutputHosts {
            try AllowedHost.check(host, from: "RESPOOL_ALLOW_OUTPUT_HOSTS")
        }
        configuration.policy.proxy = try proxy()
        configuration.policy.proxyExceptions = list("RESPOOL_NO_PROXY", separator: ",")
        for host in configuration.policy.proxyExceptions { try AllowedHost.check(host, from: "RESPOOL_NO_PROXY") }
        if let folder = Environment.value("RESPOOL_SPOOL_DIR") { configuration.policy.spoolFolder = folder }
        configuration.policy.knownHostsFile = Environment.value("RESPOOL_SSH_KNOWN_HOSTS")
        configuration.policy.sshKeyFile = Environment.value("RESPOOL_SSH_KEY_FILE")
        configuration.policy.sourceSchemes = try schemes("RESPOOL_SOURCE_SCHEMES", configuration.policy)
        configuration.policy.outputSchemes = try schemes("RESPOOL_OUTPUT_SCHEMES", configuration.policy)
        configuration.policy.cacheFolder = Environment.value("RESPOOL_CACHE_DIR")
        if let bytes = try whole("RESPOOL_CACHE_BYTES", 1...(1 << 50)) {
            configuration.policy.maxCacheBytes = Int64(bytes)
        }
        if let seconds = try whole("RESPOOL_CACHE_AGE", 1...1_000_000_000) {
            configuration.policy.maxCacheAge = Int64(seconds)
        }
        configuration.policy.maxPerHost = try whole("RESPOOL_MAX_PER_HOST", 1...1024)
        configuration.policy.certificateFile = Environment.value("RESPOOL_CA_FILE")
        configuration.policy.s3 = try .fromEnvironment()
        configuration.policy.credentials = try .fromEnvironment()
        if let bytes = try whole("RESPOOL_MAX_SOURCE_BYTES", 1...(1 << 50)) {
            configuration.policy.maxSourceBytes = Int64(bytes)
        }
        if let bytes = try whole("RESPOOL_MAX_OUTPUT_BYTES", 1...(1 << 50)) {
            configuration.policy.maxOutputBytes = Int64(bytes)
            configuration.transcode.maxOutputBytes = Int64(bytes)
        }
        if let count = try whole("RESPOOL_MAX_SEGMENTS", 1...10_000_000) {
            configuration.policy.maxNestedSources = count
        }
        configuration.transcode.source = try .fromEnvironment(whole)
        if let seconds = try whole("RESPOOL_TRANSCODE_TIMEOUT", 2...86_400) {
            configuration.silence = .seconds(seconds)
        }
        if let jobs = try whole("RESPOOL_JOBS_PER_PAIR", 0...1_000_000) {
            configuration.jobsPerPair = jobs == 0 ? nil : jobs
        }
        if let text = Environment.value("RESPOOL_PAIR_PER") {
            guard let scope = PairScope(rawValue: text) else {
                let names = PairScope.allCases.map(\.rawValue).joined(separator: " or ")
                throw Failure(.invalidRequest, "RESPOOL_PAIR_PER is `\(text)`: it must be \(names)")
            }
            configuration.pairScope = scope
        }
        if let text = Environment.value("RESPOOL_SANDBOX") {
            guard let mode = SandboxMode(rawValue: text) else {
                throw Failure(.invalidRequest, "RESPOOL_SANDBOX is `\(text)`: it must be on, require or off")
            }
            configuration.sandbox = mode
        }
        return configuration
    }

    private static func proxy() throws(Failure) -> String? {
        guard let url = Environment.value("RESPOOL_PROXY") else { return nil }
        guard ServerURL.isValidOnWeb(url) else {
            throw Failure(
                .invalidRequest, "RESPOOL_PROXY is `\(redactedURL(url))`: it must be as http://proxy.example.org:3128")
        }
        return url
    }

    private static func schemes(_ variable: String, _ policy: TransferPolicy) throws(Failure) -> Set<FileScheme> {
        var schemes: Set<FileScheme> = []
        for name in list(variable, separator: ",") {
            guard let scheme = FileScheme(rawValue: name) else {
                let names = FileScheme.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.invalidRequest, "\(variable) has `\(name)`: it must be of \(names)")
            }
            schemes.insert(scheme)
        }
        guard !schemes.contains(.sftp) || policy.knownHostsFile != nil else {
            throw Failure(
                .invalidRequest,
                "\(variable) has `sftp`, which needs the servers' keys: set RESPOOL_SSH_KNOWN_HOSTS")
        }
        if schemes.contains(.sftp) {
            for name in ["RESPOOL_SSH_KNOWN_HOSTS", "RESPOOL_SSH_KEY_FILE"] { try checkFile(name) }
        }
        return schemes
    }

    private static func checkFile(_ name: String) throws(Failure) {
        guard let path = Environment.value(name) else { return }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else {
            throw Failure(.invalidRequest, "\(name) is `\(path)`, which cannot be read as a file")
        }
    }

    private static func list(_ name: String, separator: Character) -> [String] {
        (Environment.value(name) ?? "").split(separator: separator).map(String.init)
    }

    private static func whole(_ name: String, _ bounds: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = Environment.value(name) else { return nil }
        guard let number = Int(text), bounds.contains(number) else {
            throw Failure(
                .invalidRequest,
                "\(name) is `\(text)`: it must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }
}

extension SourceLimits {
    /// The limits from the environment; `whole` parses the variables.
    fileprivate static func fromEnvironment(
        _ whole: (String, ClosedRange<Int>) throws(Failure) -> Int?
    ) throws(Failure) -> SourceLimits {
        var limits = SourceLimits()
        limits.seconds = try whole("RESPOOL_MAX_DURATION", 1...1_000_000_000) ?? limits.seconds
        limits.channels = try whole("RESPOOL_MAX_CHANNELS", 1...maxChannels) ?? limits.channels
        limits.sampleRate = try whole("RESPOOL_MAX_SAMPLE_RATE", 8000...highestRate) ?? limits.sampleRate
        limits.tracks = try whole("RESPOOL_MAX_TRACKS", 1...1000) ?? limits.tracks
        limits.chapters = try whole("RESPOOL_MAX_CHAPTERS", 0...1_000_000) ?? limits.chapters
        limits.tagBytes = try whole("RESPOOL_MAX_TAG_BYTES", 0...(256 << 20)) ?? limits.tagBytes
        limits.pictureBytes = try whole("RESPOOL_MAX_PICTURE_BYTES", 0...(256 << 20)) ?? limits.pictureBytes
        limits.packetRate = try whole("RESPOOL_MAX_PACKET_RATE", 1000...1_000_000_000) ?? limits.packetRate
        limits.expansion = try whole("RESPOOL_MAX_EXPANSION", 1...1_000_000_000) ?? limits.expansion
        return limits
    }
}
