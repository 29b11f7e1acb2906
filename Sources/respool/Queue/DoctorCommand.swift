import Configuration
import JobSchema
import Jobs
import Redis

extension Command {
    static let doctor = Command(
        "doctor", "reads every key of the queue and reports inconsistencies",
        details: [
            "Checks that each job is in exactly the indexes of its state, that each key belongs "
                + "to something, and that every expired lease was reaped. Findings are read again, "
                + "because a job can move during the check. It changes nothing and does not block "
                + "the queue; its time grows with the queue. It also shows the configuration of the server.",
            "With --repair, mends what it can, beside running workers too, says what was mended, and then reports what is left. No job is "
                + "lost: one whose state is gone is admitted again. With --dry-run, it only reports.",
            "If RESPOOL_WAIT_REPLICAS is set, it also compares that with the replicas of Redis.",
            "Exits with 1 if there are findings. A warning is a setting that risks losing jobs; it does not change the exit code.",
        ],
        options: [DoctorOptions.repair, DoctorOptions.dryRun, .json, .queue, .redis],
        examples: [
            .init(line: "respool doctor --queue urgent", meaning: "checks the queue urgent"),
            .init(line: "respool doctor --repair", meaning: "mends what it finds, and reports the rest"),
        ]
    ) { arguments throws(CommandFailure) in
        let connection = try QueueConnection(arguments)
        let wait: ReplicaWait?
        do throws(SettingError) { wait = try ReplicaWait(.process) } catch { throw .usage(error.message) }
        var repair: QueueRepair.Report?
        if arguments.has(DoctorOptions.repair), !arguments.has(DoctorOptions.dryRun) {
            repair = try await connection.ask { queue throws(QueueError) in try await QueueRepair(queue).run() }
        }
        let report = try await connection.ask { [repair] queue throws(QueueError) in
            try await DoctorReport(queue, wait, repair)
        }
        let text = arguments.has(.json) ? [JSONLine.text(report)] : report.lines(connection)
        StandardStream.output(text.map { $0 + "\n" }.joined())
        return report.findings.isEmpty ? .success : .failure
    }
}

enum DoctorOptions {
    static let repair = Option("repair", "mends what can be mended without losing a job")
    static let dryRun = Option("dry-run", "changes nothing, as without --repair")
}

/// The state of a queue and its server.
private struct DoctorReport: Encodable {
    let queue: String
    let server: ServerInfo
    let keys: Int
    let counts: [String: Int]
    let paused: Bool
    /// Seconds.
    @Nullable var oldestWaiting: Double?
    let workers: Int
    let slots: Int
    /// The workers that write only to URLs.
    let urlOutputWorkers: [String]
    /// The workers that count the threads of their children.
    let countedThreadsWorkers: [String]
    /// The workers whose children have control groups that limit their threads.
    let limitedThreadsWorkers: [String]
    let findings: [String]
    let warnings: [String]
    /// What `--repair` did; `nil` without it.
    @Nullable var mended: [String]?
    /// What `--repair` left as it is, and why.
    @Nullable var left: [String]?

    init(_ queue: JobQueue, _ wait: ReplicaWait?, _ repair: QueueRepair.Report?) async throws(QueueError) {
        let audit = try await QueueAudit(queue).lastingProblems()
        let stats = try await queue.stats()
        (mended, left) = (repair?.mended, repair?.left)
        self.queue = queue.name.text
        server = try await queue.serverInfo()
        keys = audit.keys
        counts = stats.countsByName
        paused = stats.isPaused
        oldestWaiting = stats.oldestWaiting.map { Double($0) / 1000 }
        (workers, slots) = (stats.workers, stats.slots)
        let workers = try await queue.workers()
        urlOutputWorkers = workers.filter { $0.traits.contains(.urlOutputs) }.map(\.name)
        countedThreadsWorkers = workers.filter { $0.traits.contains(.countedThreads) }.map(\.name)
        limitedThreadsWorkers = workers.filter { $0.traits.contains(.limitedThreads) }.map(\.name)
        findings =
            audit.sentences + (try await queue.configurationWarnings())
            + server.failedWrites.map { [name = server.name] in
                "\(name) could not write \($0): check its log and its disk space"
            }
        warnings = [
            Self.persistenceWarning(server), Self.sizeWarning(server), Self.replicaWarning(server, wait),
            stats.workers == 0 ? "no worker is running: start one with `respool worker`" : nil,
            stats.isPaused ? "the queue is paused: resume it with `respool resume`" : nil,
        ].compactMap(\.self)
    }

    /// Warns if the server could lose jobs when it is killed.
    private static func persistenceWarning(_ server: ServerInfo) -> String? {
        guard server.isAppendOnly else {
            return "\(server.name) has no append-only file, so it loses jobs when it is killed: set appendonly to yes"
        }
        guard let sync = server.appendfsync, sync != "always" else { return nil }
        return "appendfsync is \(sync), so \(server.name) can lose its last writes when it is killed: set it to always"
    }

    /// Warns if a client could push very large jobs.
    private static func sizeWarning(_ server: ServerInfo) -> String? {
        guard let bytes = server.maxBulkBytes, bytes > 16 << 20 else { return nil }
        return
            "proto-max-bulk-len is \(Formatting.bytes(bytes)), so one pushed job can block \(server.name): set it to 1mb"
    }

    /// Warns if there are too few replicas for results to be published.
    private static func replicaWarning(_ server: ServerInfo, _ wait: ReplicaWait?) -> String? {
        guard let wanted = wait?.replicas, server.replicas < wanted else { return nil }
        let replicas = Formatting.count(server.replicas, "replica")
        return "RESPOOL_WAIT_REPLICAS is \(wanted) and \(server.name) has \(replicas), "
            + "so no result can be published: start more replicas, or lower it"
    }

    private enum CodingKeys: String, CodingKey {
        case queue, server, keys, counts, paused, workers, slots, findings, warnings, mended, left
        case oldestWaiting = "oldest_waiting"
        case urlOutputWorkers = "url_output_workers"
        case countedThreadsWorkers = "counted_threads_workers"
        case limitedThreadsWorkers = "limited_threads_workers"
    }

    func lines(_ connection: QueueConnection) -> [String] {
        let limit = server.maxmemory > 0 ? "of \(Formatting.bytes(server.maxmemory))" : "no limit"
        var pairs = [
            ("queue", "\(queue) at \(connection.url)\(paused ? ", paused" : "")"),
            (server.name, "\(server.version), \(server.role), \(Formatting.count(server.replicas, "replica"))"),
            ("memory", "\(Formatting.bytes(server.usedMemory)) \(limit), maxmemory-policy \(server.maxmemoryPolicy)"),
            ("on disk", persistence),
            ("workers", "\(Formatting.count(workers)) alive, \(Formatting.count(slots, "slot"))"),
            ("jobs", jobs),
        ]
        if !urlOutputWorkers.isEmpty {
            let names = urlOutputWorkers.joined(separator: ", ")
            pairs.append(
                ("outputs", "only to URLs at \(names): a job whose output is a path fails there as output_denied"))
        }
        if !countedThreadsWorkers.isEmpty {
            let names = countedThreadsWorkers.joined(separator: ", ")
            pairs.append(
                ("threads", "of child processes are counted each second, and not limited by the kernel, at \(names)"))
        }
        if !limitedThreadsWorkers.isEmpty {
            let names = limitedThreadsWorkers.joined(separator: ", ")
            pairs.append(("threads", "of child processes are limited by control groups (cgroup) at \(names)"))
        }
        if let oldestWaiting { pairs.append(("waiting", "the oldest for \(Formatting.span(oldestWaiting))")) }
        pairs.append(("keys", "\(Formatting.count(keys)) read"))
        let terminal = Terminal.output
        let facts = pairs.map { name, value in
            terminal.colored(TextLayout.fitted(name, width: 8), .faint) + " " + TextLayout.printable(value)
        }
        func list(_ sentences: [String], _ noun: String, _ color: Terminal.Color) -> [String] {
            guard !sentences.isEmpty else { return [] }
            let heading = terminal.colored(Formatting.count(sentences.count, noun), color)
            return ["\(heading):"] + sentences.map { "- " + TextLayout.printable($0) }
        }
        let mended = list(mended ?? [], "repair", .green)
        let left = left ?? []
        let reasons = left.isEmpty ? [] : ["not repaired:"] + left.map { "- " + TextLayout.printable($0) }
        guard !findings.isEmpty || !warnings.isEmpty else {
            return facts + mended + reasons + [terminal.colored("no problems found", .green)]
        }
        return facts + mended + reasons + list(findings, "finding", .red) + list(warnings, "warning", .yellow)
    }

    private var persistence: String {
        guard server.isAppendOnly else { return "no append-only file" }
        switch server.appendfsync {
        case "always": return "append-only file, appendfsync always: no acknowledged write is lost"
        case let sync?: return "append-only file, appendfsync \(sync)"
        case nil: return "append-only file; appendfsync is unknown"
        }
    }

    private var jobs: String {
        JobState.allCases.map { "\(Formatting.count(counts[$0.rawValue] ?? 0)) \($0.rawValue)" }.joined(separator: ", ")
    }
}
