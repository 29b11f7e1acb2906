import Configuration
import JobSchema

/// Decides which traces have spans, as the samplers of OpenTelemetry do.
struct TraceSampler: Sendable {
    /// Whether the `traceparent` of a job decides, if it has one.
    private let heedsParent: Bool
    private let root: Root

    private enum Root: Sendable {
        case always, never
        case share(Double)
    }

    init(_ environment: Environment) throws(SettingError) {
        let name = try environment.value(Settings.traceSampler) ?? "parentbased_always_on"
        heedsParent = name.hasPrefix("parentbased_")
        let share = try environment.value(Settings.traceSamplerArgument) ?? 1
        root = name.hasSuffix("always_on") ? .always : name.hasSuffix("always_off") ? .never : .share(share)
    }

    /// Whether a job of the trace has spans.
    func samples(_ traceID: String, parent: TraceParent?) -> Bool {
        if heedsParent, let parent { return parent.isSampled }
        return switch root {
        case .always: true
        case .never: false
        case .share(let share): Self.isInShare(traceID, share)
        }
    }

    /// Decides by the last 8 bytes of the id alone, so that all services decide the same (as OpenTelemetry's TraceIdRatioBased in
    /// Go and Java).
    private static func isInShare(_ traceID: String, _ share: Double) -> Bool {
        guard share < 1, let number = UInt64(traceID.suffix(16), radix: 16) else { return true }
        return number >> 1 < UInt64(share * 0x1p63)
    }
}
