import Synchronization
import Text

/// Counters, gauges and histograms of one process, rendered as Prometheus text.
package final class Metrics: Sendable {
    private let families = Mutex<[String: Family]>([:])

    private struct Family {
        let kind: Kind
        let help: String
        /// Upper bounds of the buckets of a histogram.
        let bounds: [Double]
        var series: [String: Series] = [:]
    }

    private enum Kind: String {
        case counter, gauge, histogram
    }

    private struct Series {
        var value = 0.0
        var buckets: [Int] = []
    }

    /// Upper bounds in seconds for jobs: from a few milliseconds to an hour of encoding.
    package static let jobBounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
    ]
    /// Upper bounds in seconds for replies: of Redis, and to requests.
    package static let replyBounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
    ]

    /// Upper bounds of speeds: seconds of audio per second.
    package static let speedBounds: [Double] = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

    package init() {}

    /// Adds to a counter.
    package func count(_ name: String, help: String, labels: KeyValuePairs<String, String> = [:], by amount: Double = 1)
    {
        update(name, .counter, help, labels) { $0.value += amount }
    }

    /// Sets a gauge.
    package func gauge(_ name: String, help: String, labels: KeyValuePairs<String, String> = [:], _ value: Double) {
        update(name, .gauge, help, labels) { $0.value = value }
    }

    /// Adds a value to a histogram, by default a duration in seconds. All values of a name have the same bounds.
    package func observe(
        _ name: String, help: String, labels: KeyValuePairs<String, String> = [:], bounds: [Double] = Metrics.jobBounds,
        _ value: Double
    ) {
        update(name, .histogram, help, labels, bounds) { series in
            if series.buckets.isEmpty { series.buckets = [Int](repeating: 0, count: bounds.count + 1) }
            series.value += value
            series.buckets[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        }
    }

    /// All metrics in the text format of Prometheus, version 0.0.4.
    package func render() -> String {
        let families = families.withLock { $0 }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            lines.append("# HELP \(name) \(family.help)")
            lines.append("# TYPE \(name) \(family.kind.rawValue)")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines +=
                    family.kind == .histogram
                    ? Self.histogram(name, labels, series, family.bounds)
                    : ["\(name)\(Self.braced(labels)) \(Self.number(series.value))"]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func update(
        _ name: String, _ kind: Kind, _ help: String, _ labels: KeyValuePairs<String, String>,
        _ bounds: [Double] = [], _ change: (inout Series) -> Void
    ) {
        let key = labels.map { "\($0.key)=\(JSONText.quoted($0.value))" }.joined(separator: ",")
        families.withLock { families in
            change(
                &families[name, default: Family(kind: kind, help: help, bounds: bounds)].series[key, default: Series()])
        }
    }

    private static func histogram(_ name: String, _ labels: String, _ series: Series, _ bounds: [Double]) -> [String] {
        var total = 0
        var lines: [String] = []
        for (index, count) in series.buckets.enumerated() {
            total += count
            let bound = index < bounds.count ? number(bounds[index]) : "+Inf"
            let pairs = labels.isEmpty ? "le=\"\(bound)\"" : "\(labels),le=\"\(bound)\""
            lines.append("\(name)_bucket\(braced(pairs)) \(total)")
        }
        lines.append("\(name)_sum\(braced(labels)) \(number(series.value))")
        lines.append("\(name)_count\(braced(labels)) \(total)")
        return lines
    }

    private static func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}
