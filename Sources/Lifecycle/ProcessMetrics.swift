import Glibc
import Synchronization

/// Measures this process, without its children.
package struct ProcessMetrics: Sendable {
    private let metrics: Metrics

    /// The CPU time that is counted already.
    private static let countedSeconds = Mutex(0.0)
    /// First read when the metrics are made.
    private static let startTime = Double(time(nil))

    package init(_ metrics: Metrics) {
        self.metrics = metrics
        _ = Self.startTime
    }

    /// Updates the metrics; called before each scrape.
    package func measure() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds =
            Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
        let more = Self.countedSeconds.withLock { counted in
            defer { counted = seconds }
            return seconds - counted
        }
        metrics.count(
            "process_cpu_seconds_total", help: "CPU time of the process itself, without its children.", by: more)
        metrics.gauge(
            "process_start_time_seconds", help: "Start of the process, in seconds since 1970.", Self.startTime)
        if let pages = ProcessFile.memoryPages {
            metrics.gauge(
                "process_resident_memory_bytes", help: "Memory of the process itself.",
                Double(pages) * Double(sysconf(CInt(_SC_PAGESIZE))))
        }
        if let count = ProcessFile.openDescriptors {
            metrics.gauge("process_open_fds", help: "Open file descriptors of the process itself.", Double(count))
        }
    }
}
