import JobSchema
import Jobs
import Lifecycle

/// Shows the state of a queue: counts, workers and running jobs.
struct QueueOverview {
    let connection: QueueConnection

    /// Shows it once, or repeatedly until the process ends.
    func show(isWatching: Bool, isJSON: Bool) async throws(CommandFailure) -> ExitStatus {
        guard isWatching else {
            StandardStream.output(text(try await connection.ask(Self.look), isJSON: isJSON))
            return .success
        }
        let terminal = Terminal.output
        var area = LiveArea(terminal)
        var last = ""
        var glance = try await connection.ask(Self.look)
        while true {
            if terminal.isInteractive, !isJSON {
                area.draw(lines(glance))
            } else {
                let text = text(glance, isJSON: isJSON)
                if text != last { StandardStream.output(text) }
                last = text
            }
            try? await Task.sleep(for: terminal.isInteractive ? .milliseconds(250) : .seconds(1))
            glance = try await connection.askWithRetry(makeRoom: { area.release() }, Self.look)
        }
    }

    /// The data of one update.
    private struct Glance {
        let stats: QueueStats
        let workers: [WorkerRecord]
        let running: [JobRecord]
    }

    private static let look = { @Sendable (queue: JobQueue) async throws(QueueError) -> Glance in
        Glance(
            stats: try await queue.stats(), workers: try await queue.workers(),
            running: try await queue.list(state: .running, limit: 100).jobs)
    }

    private func text(_ glance: Glance, isJSON: Bool) -> String {
        isJSON
            ? JSONLine.text(OverviewReport(connection.queue.name.text, glance.stats, glance.workers, glance.running))
                + "\n"
            : lines(glance).map { $0 + "\n" }.joined()
    }

    private func lines(_ glance: Glance) -> [String] {
        let terminal = Terminal.output
        let paused =
            glance.stats.isPaused ? "  " + terminal.colored("paused: resume it with `respool resume`", .yellow) : ""
        var lines = ["queue \(terminal.colored(connection.queue.name.text, .bold)) at \(connection.url)\(paused)"]
        lines.append(counts(glance.stats, terminal))
        if let age = glance.stats.oldestWaiting {
            lines.append("the oldest waiting job is \(Formatting.span(Double(age) / 1000)) old")
        }
        lines += recentCounts(glance.stats, terminal)
        lines.append("")
        lines +=
            glance.workers.isEmpty ? ["no worker: start one with `respool worker`"] : workers(glance.workers, terminal)
        if !glance.running.isEmpty {
            let jobs = glance.running.map { JobLine($0, showsID: true) }
            let style = ProgressLineStyle(terminal: terminal, lines: jobs.map { $0.progress(terminal) })
            lines.append("")
            lines += jobs.map {
                terminal.isInteractive ? $0.text(style) : JobView.line($0.record.id, $0.record, terminal)
            }
        }
        return lines
    }

    private func counts(_ stats: QueueStats, _ terminal: Terminal) -> String {
        JobState.allCases.filter { stats[$0] > 0 || $0 != .queued }.map { state in
            let text = "\(Formatting.count(stats[state])) \(state.rawValue)"
            guard stats[state] > 0 else { return terminal.colored(text, .faint) }
            return state == .failed ? terminal.colored(text, .red) : text
        }.joined(separator: "  ")
    }

    /// The counts of the last minute, hour and day, unless they are all zero.
    private func recentCounts(_ stats: QueueStats, _ terminal: Terminal) -> [String] {
        guard !stats.lastDay.isNone else { return [] }
        var table = Table([
            "LAST": .left, "PUSHED": .right, "COMPLETED": .right, "FAILED": .right, "FAILURES": .right,
            "RETRIES": .right, "CRASHES": .right,
        ])
        for (name, counts) in [("minute", stats.lastMinute), ("hour", stats.lastHour), ("day", stats.lastDay)] {
            let rate = counts.failureRate.map { "\(Formatting.short($0 * 100)) %" } ?? "-"
            let numbers = [counts.pushed, counts.completed, counts.failed].map { Formatting.count($0) }
            let rest = [counts.retries, counts.crashes].map { Formatting.count($0) }
            let isBad = counts.failed > 0
            table.append(
                [.init(name), .init(numbers[0]), .init(numbers[1]), .init(numbers[2], isBad ? .red : nil), .init(rate)]
                    + rest.map { .init($0) })
        }
        return [""] + table.lines(for: terminal)
    }

    private func workers(_ workers: [WorkerRecord], _ terminal: Terminal) -> [String] {
        var table = Table(["WORKER": .left, "SLOTS": .right, "BUSY": .right, "BEAT": .right, "VERSION": .left])
        for worker in workers.sorted(by: { $0.name < $1.name }) {
            let silence = worker.silence.map { "\(Formatting.span(Double($0) / 1000)) ago" } ?? "-"
            table.append([
                .init(
                    worker.name.split(separator: ":").prefix(2).joined(separator: ":")
                        + (worker.isQuiet ? " (quiet)" : "")
                        + (worker.traits.contains(.urlOutputs) ? " (only URLs)" : "")),
                .init(String(worker.slots)),
                .init(String(worker.jobs.count)), .init(silence, worker.silence ?? 0 > 5000 ? .yellow : nil),
                .init(worker.version),
            ])
        }
        return table.lines(for: terminal)
    }
}

/// The JSON report of the overview.
private struct OverviewReport: Encodable {
    let queue: String
    let paused: Bool
    let counts: [String: Int]
    /// Seconds.
    @Nullable var oldestWaiting: Double?
    let last: [String: JobCounts]
    let workers: [WorkerReport]
    let running: [JobRecord]

    init(_ queue: String, _ stats: QueueStats, _ workers: [WorkerRecord], _ running: [JobRecord]) {
        self.queue = queue
        paused = stats.isPaused
        counts = stats.countsByName
        oldestWaiting = stats.oldestWaiting.map { Double($0) / 1000 }
        last = ["minute": stats.lastMinute, "hour": stats.lastHour, "day": stats.lastDay]
        self.workers = workers.map { WorkerReport($0) }
        self.running = running
    }

    enum CodingKeys: String, CodingKey {
        case queue, paused, counts, last, workers, running
        case oldestWaiting = "oldest_waiting"
    }
}
