package import Configuration
import JobSchema
import Text

/// Where a worker sends the spans of its jobs, and which; from the variables of OpenTelemetry.
package struct TraceSettings: Sendable {
    /// The URL of the collector's traces (OTLP/HTTP).
    package let endpoint: String
    /// Further header lines of each request.
    let headers: [String]
    /// The attributes of the service, in the order of their names.
    let resource: [(name: String, value: String)]
    let sampler: TraceSampler
    /// How long spans are collected before they are sent.
    let delay: Duration
    /// A sentence for the log if a protocol is set that the spans are not sent by.
    package let warning: String?

    /// The settings of the environment; `nil` if no spans are to be sent.
    package init?(_ environment: Environment) throws(SettingError) {
        // Only `true` switches off, in any case (OpenTelemetry, "General SDK Configuration").
        guard environment.text(Settings.traceSwitch)?.lowercased() != "true",
            environment.text(Settings.traceExporter) != "none", let endpoint = try Self.endpoint(environment)
        else { return nil }
        self.endpoint = endpoint
        headers = try Self.pairs(environment, Settings.traceHeaders, isSecret: true).map { "\($0): \($1)" }
        var attributes = ["service.name": "respool-worker"]
        for (name, value) in try Self.pairs(environment, Settings.traceResource, isSecret: false) {
            attributes[name] = value
        }
        if let name = environment.text(Settings.traceService) { attributes["service.name"] = name }
        resource = attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        sampler = try TraceSampler(environment)
        warning = Self.warning(environment)
        delay = .milliseconds(try environment.value(Settings.traceDelay) ?? 5000)
    }

    /// The collector's host with its port, as it is allowed to the process that sends spans.
    var host: String {
        let isSecure = endpoint.lowercased().hasPrefix("https://")
        let host = ServerURL.hostAndPort(of: endpoint)
        return ServerURL.port(of: endpoint) == nil ? "\(host):\(isSecure ? 443 : 80)" : String(host)
    }

    private static func endpoint(_ environment: Environment) throws(SettingError) -> String? {
        for (setting, path) in [(Settings.tracesEndpoint, ""), (Settings.traceEndpoint, "/v1/traces")] {
            guard let text = environment.text(setting) else { continue }
            guard ServerURL.isValidOnWeb(text) else {
                throw SettingError(setting.name, is: redactedURL(text), expected: setting.expected)
            }
            let base = path.isEmpty || !text.hasSuffix("/") ? text : String(text.dropLast())
            return base + path
        }
        return nil
    }

    private static func warning(_ environment: Environment) -> String? {
        for setting in [Settings.tracesProtocol, Settings.traceProtocol] {
            guard let text = environment.text(setting) else { continue }
            guard text != "http/json" else { return nil }
            return "\(setting.name) is '\(PrintableText.shown(text))', but spans are sent as http/json: "
                + "let the endpoint be the collector's port of OTLP/HTTP, 4318"
        }
        return nil
    }

    /// Pairs such as `key1=value1,key2=value2`, percent-encoded (W3C Baggage).
    private static func pairs(
        _ environment: Environment, _ setting: EnvironmentSetting<[String]>, isSecret: Bool
    ) throws(SettingError) -> [(String, String)] {
        var pairs: [(String, String)] = []
        for part in try environment.value(setting) ?? [] where !trimmed(part[...]).isEmpty {
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let name = PercentEncoding.decoded(trimmed(words[0])), !name.isEmpty,
                let value = PercentEncoding.decoded(trimmed(words[1])), isPlain(name), isPlain(value),
                !isSecret || !name.contains(where: { ": ".contains($0) })
            else {
                // Without its `=`, a secret value may stand where the name is expected.
                throw SettingError(setting.name, is: isSecret ? "…" : part, expected: setting.expected)
            }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text = text.dropLast() }
        return text
    }

    private static func isPlain(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0.value >= 0x20 } }
}
