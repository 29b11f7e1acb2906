import Jobs

/// Follows jobs until each of them has ended.
struct JobFollower {
    let connection: QueueConnection
    /// The terminal for bars and changes.
    let terminal: Terminal
    let form: Form
    /// The reason to stop waiting, if there is one.
    let fault: @Sendable () -> CommandFailure?

    /// The output for the followed jobs.
    enum Form {
        /// Progress bars on a terminal; otherwise a line per change.
        case changes
        /// Progress bars on a terminal; otherwise only failures.
        case summary
        /// A line of JSON on standard output for each job that has ended.
        case json
        /// A line of JSON on standard output for each change.
        case jsonChanges
    }

    private var interval: Duration { terminal.isInteractive ? .milliseconds(150) : .milliseconds(300) }

    init(
        connection: QueueConnection, terminal: Terminal, form: Form,
        fault: @escaping @Sendable () -> CommandFailure? = { nil }
    ) {
        self.connection = connection
        self.terminal = terminal
        self.form = form
        self.fault = fault
    }

    /// Returns a failure if a job was not completed or an id is unknown. If `isPatient` is false, an unreachable server is an
    /// error immediately.
    func follow(_ ids: [String], isPatient: Bool = true) async throws(CommandFailure) -> ExitStatus {
        if !isPatient { _ = try await connection.ask { queue throws(QueueError) in try await queue.stats() } }
        var board = JobBoard(ids)
        var view = JobView(terminal: terminal, form: form)
        var watch = StandstillWatch()
        while true {
            let changes = try await refresh(&board, &view)
            view.show(board, changes)
            if board.isFinished { break }
            if watch.isDue(board) { try await warnWithoutWorker(&view) }
            if let fault = fault() { throw fault }
            try? await Task.sleep(for: interval)
        }
        view.end(board)
        return board.records.values.allSatisfy { $0.state == .completed } && board.missing.isEmpty ? .success : .failure
    }

    private func warnWithoutWorker(_ view: inout JobView) async throws(CommandFailure) {
        let workers = try await connection.askWithRetry(makeRoom: { view.release() }) { queue throws(QueueError) in
            try await queue.workers()
        }
        guard workers.isEmpty else { return }
        view.release()
        let name = connection.queue.name
        let words = name == .default ? "respool worker" : "respool worker --queue \(name.text)"
        StandardStream.error("respool: no worker serves the queue: start one with `\(words)`\n")
    }

    private func refresh(_ board: inout JobBoard, _ view: inout JobView) async throws(CommandFailure) -> [JobBoard
        .Change]
    {
        var changes: [JobBoard.Change] = []
        for part in board.open.parts(of: 500) {
            let ids = Array(part)
            let records = try await connection.askWithRetry(makeRoom: { view.release() }) { queue throws(QueueError) in
                try await queue.jobs(ids)
            }
            for (id, record) in zip(ids, records) {
                if let change = board.update(id, record) { changes.append(change) }
            }
        }
        return changes
    }
}

/// Detects once that no job has started within 3 s.
private struct StandstillWatch {
    private let start = ContinuousClock.now
    private var isFinished = false

    mutating func isDue(_ board: JobBoard) -> Bool {
        guard !isFinished else { return false }
        let hasBegun = board.records.values.contains { $0.state != .queued && $0.state != .waiting }
        isFinished = hasBegun || .now - start > .seconds(3)
        return isFinished && !hasBegun
    }
}
