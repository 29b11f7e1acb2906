import Configuration
import JobSchema
import Testing

@testable import Tracing

/// Which traces have spans.
@Suite struct TraceSamplerTests {
    private static let sampled = TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!
    private static let unsampled = TraceParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")!

    private func sampler(_ name: String, _ share: String? = nil) throws -> TraceSampler {
        var values = ["OTEL_TRACES_SAMPLER": name]
        values["OTEL_TRACES_SAMPLER_ARG"] = share
        return try TraceSampler(Environment(values))
    }

    @Test(arguments: [
        ("always_on", true, true, true), ("always_off", false, false, false),
        ("parentbased_always_on", true, true, false), ("parentbased_always_off", false, true, false),
    ])
    func `the parent decides only for samplers that heed it`(
        name: String, root: Bool, ofSampled: Bool, ofUnsampled: Bool
    ) throws {
        let sampler = try sampler(name)
        let trace = Self.sampled.traceID
        #expect(sampler.samples(trace, parent: nil) == root)
        #expect(sampler.samples(trace, parent: Self.sampled) == ofSampled)
        #expect(sampler.samples(trace, parent: Self.unsampled) == ofUnsampled)
    }

    /// The threshold of OpenTelemetry for Go: the last 8 bytes, shifted right by one, are less than share · 2^63.
    @Test func `a share is decided by the last 8 bytes of the id`() throws {
        let half = try sampler("traceidratio", "0.5")
        let head = "ffffffffffffffff"
        #expect(half.samples(head + "7fffffffffffffff", parent: nil))
        #expect(!half.samples(head + "8000000000000000", parent: nil))
        #expect(!(try sampler("traceidratio", "0")).samples(head + "0000000000000000", parent: nil))
        #expect(try sampler("traceidratio", "1").samples(head + head, parent: nil))
        #expect(try sampler("traceidratio").samples(head + head, parent: nil))
        #expect(try sampler("parentbased_traceidratio", "0").samples(head + head, parent: Self.sampled))
    }

    @Test func `of the ids that jobs get, a share is taken`() throws {
        let sampler = try sampler("traceidratio", "0.25")
        let taken = (0..<4000).count {
            sampler.samples(JobTrace(queue: "q", job: "\($0)-0", parent: nil).traceID, parent: nil)
        }
        // Five standard deviations of a binomial distribution: √(4000 · 0.25 · 0.75) = 27.4.
        #expect((1000 - 137...1000 + 137).contains(taken), "\(taken)")
    }
}
