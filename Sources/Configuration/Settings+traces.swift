// Variables of OpenTelemetry, which its own programs read too.
extension Settings {
    package static let traceEndpoint = EnvironmentSetting(
        "OTEL_EXPORTER_OTLP_ENDPOINT", .text("a URL with https:// or http://"),
        "the collector to which a worker sends spans by OTLP/HTTP; `/v1/traces` is appended",
        default: .otherwise("no spans are sent"), for: .worker, link: "[Traces](how-to/traces.md)")
    package static let tracesEndpoint = EnvironmentSetting(
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", .text("a URL with https:// or http://"),
        "the same, as the whole URL", default: .otherwise("by OTEL_EXPORTER_OTLP_ENDPOINT"), for: .worker)
    package static let traceProtocol = EnvironmentSetting(
        "OTEL_EXPORTER_OTLP_PROTOCOL", .text("http/json or any other text"),
        "spans are sent as `http/json`; another protocol is a warning", default: .value("http/json"), for: .worker)
    package static let tracesProtocol = EnvironmentSetting(
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", .text("http/json or any other text"), "the same",
        default: .otherwise("by OTEL_EXPORTER_OTLP_PROTOCOL"), for: .worker)
    package static let traceHeaders = EnvironmentSetting(
        "OTEL_EXPORTER_OTLP_HEADERS", .list(of: "NAME=VALUE, percent-encoded", separator: ","),
        "headers of requests to the collector", default: .otherwise("none"), for: .worker)
    package static let traceService = EnvironmentSetting(
        "OTEL_SERVICE_NAME", .text("any text"), "the name of the service in spans",
        default: .otherwise("that of OTEL_RESOURCE_ATTRIBUTES, else respool-worker"), for: .worker)
    package static let traceResource = EnvironmentSetting(
        "OTEL_RESOURCE_ATTRIBUTES", .list(of: "NAME=VALUE, percent-encoded", separator: ","),
        "further attributes of the service", default: .otherwise("none"), for: .worker)
    package static let traceSampler = EnvironmentSetting(
        "OTEL_TRACES_SAMPLER",
        .word(
            "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
            "parentbased_traceidratio"),
        "which jobs have spans; with `parentbased`, the `traceparent` of a job decides if it has one",
        default: .value("parentbased_always_on"), for: .worker)
    package static let traceSamplerArgument = EnvironmentSetting(
        "OTEL_TRACES_SAMPLER_ARG", .fraction, "the share of traces of a sampler with `traceidratio`",
        default: .value("1"), for: .worker)
    package static let traceDelay = EnvironmentSetting(
        "OTEL_BSP_SCHEDULE_DELAY", .whole(1...600_000, of: "milliseconds"),
        "how long spans are collected before they are sent", default: .value("5000"), for: .worker)
    package static let traceSwitch = EnvironmentSetting(
        "OTEL_SDK_DISABLED", .text("true or any other text"), "`true` sends no spans", default: .value("false"),
        for: .worker)
    package static let traceExporter = EnvironmentSetting(
        "OTEL_TRACES_EXPORTER", .text("none or any other text"),
        "`none` sends no spans; OTLP/HTTP is the only exporter",
        default: .value("otlp"), for: .worker)

    static let traces: [any SettingDeclaration] = [
        traceEndpoint, tracesEndpoint, traceProtocol, tracesProtocol, traceHeaders, traceService, traceResource,
        traceSampler, traceSamplerArgument, traceDelay, traceSwitch, traceExporter,
    ]
}
