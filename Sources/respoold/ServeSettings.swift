import Configuration
import HTTPAPI
import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import Redis
import Worker

/// All settings of a server of the HTTP API from the environment, validated before anything starts.
struct ServeSettings: Sendable {
    let redis: RedisURL
    let names: [QueueName]
    let replicas: ReplicaWait?
    let listen: ListenAddress
    let tokens: AccessTokens?
    let hosts: [String]
    let limits: ConnectionLimits
    let certificate: CertificateFiles?
    let proxy: ProxyPath
    let outputs: OutputFolder?
    let uploads: UploadFolder?
    let previews: PreviewFolder?
    let level: Log.Level

    init(_ environment: Environment) throws(SettingError) {
        do throws(RedisError) { redis = try RedisURL(environment) } catch { throw SettingError(message: "\(error)") }
        do throws(Failure) {
            names =
                try environment.text(Settings.queue).map { text throws(Failure) in try QueueOrder(text).names }
                ?? [.default]
        } catch {
            throw SettingError(message: error.message)
        }
        replicas = try ReplicaWait(environment)
        let text = environment.text(Settings.listen) ?? "127.0.0.1:8080"
        guard let address = ListenAddress(text) else { throw Settings.listen.error(text) }
        listen = address
        tokens = try AccessTokens(environment)
        hosts = try environment.value(Settings.apiHosts) ?? []
        limits = ConnectionLimits(
            perAddress: try environment.value(Settings.apiConnections) ?? 16,
            streamsPerAddress: try environment.value(Settings.apiStreams) ?? 16)
        certificate = try Self.certificate(environment)
        let base = environment.text(Settings.apiBasePath) ?? ""
        guard let path = ProxyPath(base: base) else { throw Settings.apiBasePath.error(base) }
        let proxies = try environment.value(Settings.apiProxies) ?? []
        guard let full = ProxyPath(base: path.base, proxies: proxies) else {
            throw Settings.apiProxies.error(proxies.joined(separator: ","))
        }
        proxy = full
        outputs = try environment.outputRoot.map { path throws(SettingError) in
            guard let folder = OutputFolder(path) else { throw Settings.outputRoot.error(path) }
            return folder
        }
        let (maxBytes, age) = (
            try environment.value(Settings.uploadMaxBytes) ?? 2 << 30,
            try environment.value(Settings.uploadAge) ?? 86_400
        )
        uploads = try environment.text(Settings.uploadFolder).map { path throws(SettingError) in
            guard let folder = UploadFolder(path, maxBytes: Int64(maxBytes), age: .seconds(age)) else {
                throw Settings.uploadFolder.error(path)
            }
            return folder
        }
        previews = environment.text(Settings.uploadFolder).flatMap { PreviewFolder(uploads: $0) }
        level = try environment.value(Settings.log).flatMap { Log.Level(name: $0) } ?? .info
        guard tokens != nil || address.isLoopback else {
            throw SettingError(
                message:
                    "other machines reach the address '\(address)': give tokens with --tokens or \(Settings.apiTokens.name), or listen on 127.0.0.1"
            )
        }
    }

    /// The certificate and its key; `nil` without TLS.
    private static func certificate(_ environment: Environment) throws(SettingError) -> CertificateFiles? {
        let (certificate, key) = (environment.text(Settings.apiCertificate), environment.text(Settings.apiKey))
        guard let certificate, let key else {
            guard certificate != nil || key != nil else { return nil }
            throw SettingError(
                message: "TLS needs \(Settings.apiCertificate.name) and \(Settings.apiKey.name): set both, or none")
        }
        do throws(CertificateError) { return try CertificateFiles(certificate: certificate, key: key) } catch {
            switch error {
            case .certificate(let message):
                throw SettingError(message: "\(Settings.apiCertificate.name): \(message)")
            case .key(let message): throw SettingError(message: "\(Settings.apiKey.name): \(message)")
            }
        }
    }
}
