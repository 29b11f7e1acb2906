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

    /// Answers failure if a job did not complete, or an id is unknown; without patience a server that was never there is one too.
    func follow(_ ids: [String], isPatient: Bool = true) async throws(CommandFailure) -> ExitStatus {
        let look = { @Sendable (queue: JobQueue) async throws(QueueError) in try await queue.workers().isEmpty }
        var isUnserved = isPatient ? try await connection.askPatiently(look) : try await connection.ask(look)
        var board = JobBoard(ids)
        var view = JobView(terminal: terminal, form: form)
        while true {
            let changes = try await refresh(&board, &view)
            view.show(board, changes)
            if board.isOver { break }
            if isUnserved {
                view.leave()
                StandardStream.error("respool: no worker runs: start one with `respool worker`\n")
                isUnserved = false
            }
            if let fault = fault() { throw fault }
            try? await Task.sleep(for: interval)
        }
        view.end(board)
        return board.records.values.allSatisfy { $0.state == .completed } && board.missing.isEmpty ? .success : .failure
    }

    private func refresh(_ board: inout JobBoard, _ view: inout JobView) async throws(CommandFailure) -> [JobBoard
        .Change]
    {
        var changes: [JobBoard.Change] = []
        for part in board.open.parts(of: 500) {
            let ids = Array(part)
            let records = try await connection.askPatiently(makeRoom: { view.leave() }) { queue throws(QueueError) in
                try await queue.jobs(ids)
            }
            for (id, record) in zip(ids, records) {
                if let change = board.update(id, record) { changes.append(change) }
            }
        }
        return changes
    }
}
