import Lifecycle
import Testing

@Suite struct MetricsTests {
    @Test func `counters and gauges are rendered with their labels`() {
        let metrics = Metrics()
        metrics.count("jobs_total", help: "Jobs.", labels: ["outcome": "completed", "code": ""])
        metrics.count("jobs_total", help: "Jobs.", labels: ["outcome": "completed", "code": ""], by: 2)
        metrics.count("jobs_total", help: "Jobs.", labels: ["outcome": "a \"b\"\n", "code": "x"])
        metrics.gauge("slots", help: "Slots.", 4)
        metrics.gauge("slots", help: "Slots.", 2.5)
        #expect(
            metrics.render() == """
                # HELP jobs_total Jobs.
                # TYPE jobs_total counter
                jobs_total{outcome="a \\"b\\"\\n",code="x"} 1
                jobs_total{outcome="completed",code=""} 3
                # HELP slots Slots.
                # TYPE slots gauge
                slots 2.5

                """)
    }

    @Test func `a histogram is rendered with cumulative buckets, sum and count`() {
        let metrics = Metrics()
        for seconds in [0.004, 0.2, 0.2, 7200] { metrics.observe("run_seconds", help: "Runs.", seconds) }
        let lines = metrics.render().split(separator: "\n")
        #expect(lines.contains("# TYPE run_seconds histogram"))
        #expect(lines.contains(#"run_seconds_bucket{le="0.0025"} 0"#))
        #expect(lines.contains(#"run_seconds_bucket{le="0.005"} 1"#))
        #expect(lines.contains(#"run_seconds_bucket{le="0.25"} 3"#))
        #expect(lines.contains(#"run_seconds_bucket{le="3600"} 3"#))
        #expect(lines.contains(#"run_seconds_bucket{le="+Inf"} 4"#))
        #expect(lines.contains("run_seconds_sum 7200.404"))
        #expect(lines.contains("run_seconds_count 4"))
    }

    @Test func `a histogram may have bounds of its own`() {
        let metrics = Metrics()
        metrics.observe("reply_seconds", help: "Replies.", bounds: Metrics.replyBounds, 0.0002)
        let lines = metrics.render().split(separator: "\n")
        #expect(lines.contains(#"reply_seconds_bucket{le="0.0001"} 0"#))
        #expect(lines.contains(#"reply_seconds_bucket{le="0.00025"} 1"#))
        #expect(lines.contains(#"reply_seconds_bucket{le="5"} 1"#))
        #expect(!lines.contains { $0.contains(#"le="10""#) })
    }

    @Test func `a counter counts from many tasks at once`() async {
        let metrics = Metrics()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { metrics.count("n", help: "N.") } }
            }
        }
        #expect(metrics.render().contains("\nn 8000\n"))
    }
}
