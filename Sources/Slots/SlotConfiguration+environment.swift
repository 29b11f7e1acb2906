package import Configuration
import Glibc
import JobSchema
import MediaTypes
import SlotIPC

extension SlotConfiguration {
    /// The defaults, and what the environment has instead.
    package init(_ environment: Environment) throws(SettingError) {
        self.init()
        try policy.read(environment)
        transcode.maxOutputBytes = policy.maxOutputBytes
        transcode.source = try SourceLimits(environment)
        silence = try environment.value(Settings.transcodeTimeout).map { .seconds($0) } ?? silence
        folderTimeout = try environment.value(Settings.folderTimeout).map { .seconds($0) } ?? folderTimeout
        if let jobs = try environment.value(Settings.jobsPerPair) { jobsPerPair = jobs == 0 ? nil : jobs }
        pairScope = try environment.value(Settings.pairPer, as: PairScope.self)
        sandbox = try environment.value(Settings.sandbox, as: SandboxMode.self) ?? sandbox
    }
}

extension TransferPolicy {
    fileprivate mutating func read(_ environment: Environment) throws(SettingError) {
        sourceRoots = try environment.value(Settings.sourceRoots) ?? []
        outputRoot = environment.outputRoot
        allowedHosts = try Self.hosts(Settings.allowedHosts, environment)
        allowedOutputHosts = try Self.hosts(Settings.allowedOutputHosts, environment)
        proxy = environment.text(Settings.proxy)
        if let proxy, !ServerURL.isValidOnWeb(proxy) { throw Settings.proxy.error(redactedURL(proxy)) }
        proxyExceptions = try Self.hosts(Settings.noProxy, environment)
        spoolFolder = environment.text(Settings.spoolFolder) ?? Self.ownSpoolFolder
        try readFileServers(environment)
        cacheFolder = environment.text(Settings.cacheFolder)
        maxCacheBytes = try environment.value(Settings.cacheBytes).map(Int64.init) ?? maxCacheBytes
        maxCacheAge = try environment.value(Settings.cacheAge).map(Int64.init) ?? maxCacheAge
        maxPerHost = try environment.value(Settings.maxPerHost)
        prefetchReserve = try environment.value(Settings.prefetchReserve).map(Int64.init) ?? prefetchReserve
        certificateFile = environment.text(Settings.certificateFile)
        s3 = try S3Settings(environment)
        credentials = try CredentialSettings(environment)
        maxSourceBytes = try environment.value(Settings.maxSourceBytes).map(Int64.init) ?? maxSourceBytes
        maxOutputBytes = try environment.value(Settings.maxOutputBytes).map(Int64.init) ?? maxOutputBytes
        maxRedirects = try environment.value(Settings.maxRedirects) ?? maxRedirects
        minOutputRate = try environment.value(Settings.minOutputRate) ?? minOutputRate
        maxNestedSources = try environment.value(Settings.maxSegments) ?? maxNestedSources
    }

    /// The schemes of file servers, and the files that SFTP needs.
    private mutating func readFileServers(_ environment: Environment) throws(SettingError) {
        knownHostsFile = environment.text(Settings.knownHostsFile)
        sshKeyFile = environment.text(Settings.sshKeyFile)
        sourceSchemes = Set(try environment.value(Settings.sourceSchemes)?.compactMap(FileScheme.init(rawValue:)) ?? [])
        outputSchemes = Set(try environment.value(Settings.outputSchemes)?.compactMap(FileScheme.init(rawValue:)) ?? [])
        guard sourceSchemes.union(outputSchemes).contains(.sftp) else { return }
        guard knownHostsFile != nil else {
            let setting = sourceSchemes.contains(.sftp) ? Settings.sourceSchemes : Settings.outputSchemes
            throw SettingError(
                message:
                    "\(setting.name) has 'sftp', which needs the keys of the servers: set \(Settings.knownHostsFile.name)"
            )
        }
        for setting in [Settings.knownHostsFile, Settings.sshKeyFile] {
            guard let path = environment.text(setting) else { continue }
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else {
                throw setting.error(path)
            }
        }
    }

    private static func hosts(
        _ setting: EnvironmentSetting<[String]>, _ environment: Environment
    ) throws(SettingError) -> [String] {
        let hosts = try environment.value(setting) ?? []
        for host in hosts { try AllowedHost.check(host, from: setting.name) }
        return hosts
    }
}

extension SourceLimits {
    fileprivate init(_ environment: Environment) throws(SettingError) {
        self.init()
        seconds = try environment.value(Settings.maxDuration) ?? seconds
        channels = try environment.value(Settings.maxChannels) ?? channels
        sampleRate = try environment.value(Settings.maxSampleRate) ?? sampleRate
        tracks = try environment.value(Settings.maxTracks) ?? tracks
        chapters = try environment.value(Settings.maxChapters) ?? chapters
        tagBytes = try environment.value(Settings.maxTagBytes) ?? tagBytes
        pictureBytes = try environment.value(Settings.maxPictureBytes) ?? pictureBytes
        packetRate = try environment.value(Settings.maxPacketRate) ?? packetRate
        expansion = try environment.value(Settings.maxExpansion) ?? expansion
    }
}
