import Jobs

/// Follows jobs until each of them is over.
struct JobFollower {
    let connection: QueueConnection
    /// Where the bars are drawn, or the changes written.
    let terminal: Terminal
    let form: Form
    /// Says why there is no use in waiting any longer.
    let fault: @Sendable () -> CommandFailure?

    /// What is written of the jobs.
    enum Form {
        /// Bars on a terminal, lines of changes elsewhere.
        case changes
        /// Bars on a terminal, only failures elsewhere.
        case summary
        /// A line of JSON on standard output for each job that is over.
        case json
        /// A line of JSON on standard output for every change.
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

    /// Answers failure if a job did not complete, or an id is unknown; unless it waits for the server, one that was never reached is a failure too.
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

/// Tells once that no job has begun for longer than a worker needs to start.
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
