import Configuration
import JobSchema
import Testing

@testable import Tracing

/// The variables of OpenTelemetry.
@Suite struct TraceSettingsTests {
    private func settings(_ values: [String: String]) throws -> TraceSettings? {
        try TraceSettings(Environment(values))
    }

    @Test func `without an endpoint nothing is sent`() throws {
        #expect(try settings([:]) == nil)
        #expect(try settings(["OTEL_SERVICE_NAME": "x", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"]) == nil)
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"]
        for (name, value) in [
            ("OTEL_SDK_DISABLED", "true"), ("OTEL_SDK_DISABLED", "True"), ("OTEL_TRACES_EXPORTER", "none"),
        ] {
            #expect(try settings(endpoint.merging([name: value]) { $1 }) == nil, "\(name)=\(value)")
        }
        for (name, value) in [("OTEL_SDK_DISABLED", "1"), ("OTEL_TRACES_EXPORTER", "otlp")] {
            #expect(try settings(endpoint.merging([name: value]) { $1 }) != nil, "\(name)=\(value)")
        }
    }

    @Test(arguments: [
        ("http://c:4318", "http://c:4318/v1/traces", "c:4318"), ("http://c", "http://c/v1/traces", "c:80"),
        ("https://c/otlp/", "https://c/otlp/v1/traces", "c:443"),
        ("http://[::1]:4318/", "http://[::1]:4318/v1/traces", "[::1]:4318"),
    ])
    func `the path of traces is appended, and the host is the one that is allowed`(
        given: String, endpoint: String, host: String
    ) throws {
        let settings = try #require(try settings(["OTEL_EXPORTER_OTLP_ENDPOINT": given]))
        #expect(settings.endpoint == endpoint && settings.host == host)
        let whole = try #require(
            try self.settings([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://other", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": given,
            ]))
        #expect(whole.endpoint == given)
    }

    @Test(arguments: [
        (["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc', but"),
        (["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"], nil),
        (
            ["OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"],
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is 'http/protobuf', but"
        ), ([:], nil),
    ])
    func `another protocol is a warning`(values: [String: String], beginning: String?) throws {
        let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"]
        let warning = try #require(try settings(values.merging(endpoint) { $1 })).warning
        #expect(warning.map { String($0.prefix(beginning?.count ?? 0)) } == beginning)
    }

    @Test func `headers and attributes are percent-decoded, and the name of the service wins`() throws {
        let settings = try #require(
            try settings([
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318",
                "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b%3D, authorization=Basic%20eA==, ",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=x,deployment.environment=live%2Ctest",
                "OTEL_SERVICE_NAME": "audio",
            ]))
        #expect(settings.headers == ["api-key: a b=", "authorization: Basic eA=="])
        #expect(settings.resource.map(\.name) == ["deployment.environment", "service.name"])
        #expect(settings.resource.map(\.value) == ["live,test", "audio"])
    }

    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://c"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0D%0Ax"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a:b=secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=b,secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization: Bearer secret=="), ("OTEL_RESOURCE_ATTRIBUTES", "=x"),
        ("OTEL_TRACES_SAMPLER", "sometimes"), ("OTEL_TRACES_SAMPLER_ARG", "1.5"), ("OTEL_BSP_SCHEDULE_DELAY", "0"),
    ])
    func `a wrong value is refused, and a header's value is not shown`(name: String, value: String) throws {
        var values = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"]
        values[name] = value
        let error = #expect(throws: SettingError.self) { try settings(values) }
        #expect(error?.message.hasPrefix(name) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false, "\(error?.message ?? "")")
    }
}
