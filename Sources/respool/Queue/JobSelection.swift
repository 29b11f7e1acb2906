import JobSchema
import Jobs

/// The jobs selected for a command: by ids, by group, by state, or by error code.
struct JobSelection: Sendable {
    private let connection: QueueConnection
    private let ids: [String]
    private let group: String?
    private let code: ErrorCode?
    private let state: JobState?

    init(_ arguments: Arguments, code: ErrorCode? = nil, state: JobState? = nil) throws(CommandFailure) {
        connection = try QueueConnection(arguments)
        ids = arguments.operands
        group = try arguments.group()
        self.code = code
        self.state = state ?? (code != nil ? .failed : nil)
        let isAll = group != nil || self.state != nil
        if isAll, let id = ids.first {
            throw .usage("'\(id)' and a selection of jobs are mutually exclusive: give ids or a selection")
        }
        guard isAll || !ids.isEmpty else { throw .usage("missing id: give ids, or --group NAME") }
    }

    /// Calls the body with up to 500 ids at a time; for a group, with the jobs of a rank. Returns a failure if the body
    /// returned false for any of them.
    func each(
        rank: GroupCursor.Rank,
        _ body: (QueueConnection, [String]) async throws(CommandFailure) -> Bool
    ) async throws(CommandFailure) -> ExitStatus {
        var isGood = true
        if let group {
            try await connection.eachMember(of: group, rank: rank) { ids throws(CommandFailure) in
                let some = try await matching(ids)
                if !some.isEmpty, try await !body(connection, some) { isGood = false }
            }
        } else if let state {
            try await eachJob(in: state) { some throws(CommandFailure) in
                if try await !body(connection, some) { isGood = false }
            }
        } else {
            for part in ids.parts(of: 500) where try await !body(connection, Array(part)) { isGood = false }
        }
        return isGood ? .success : .failure
    }

    /// The ids of the jobs that failed with the code, if one was given.
    private func matching(_ ids: [String]) async throws(CommandFailure) -> [String] {
        guard code != nil else { return ids }
        let records = try await connection.ask { queue throws(QueueError) in try await queue.jobs(ids) }
        return zip(ids, records).filter { $1?.error?.code == code }.map(\.0)
    }

    private func eachJob(
        in state: JobState,
        _ body: ([String]) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        var cursor: JobCursor?
        repeat {
            let place = cursor
            let page = try await connection.ask { queue throws(QueueError) in
                try await queue.list(state: state, limit: 500, cursor: place)
            }
            let some = page.jobs.filter { code == nil || $0.error?.code == code }.map(\.id)
            if !some.isEmpty { try await body(some) }
            cursor = page.next
        } while cursor != nil
    }
}

extension QueueConnection {
    /// Calls the body for each page of a group's jobs, of one rank or of all.
    func eachMember(
        of group: String, rank: GroupCursor.Rank?,
        _ body: ([String]) async throws(CommandFailure) -> Void
    ) async throws(CommandFailure) {
        guard try await ask({ queue throws(QueueError) in try await queue.admitInbox(ofGroup: group) }) else {
            throw .noGroup(group)
        }
        var cursor: GroupCursor?
        repeat {
            let place = cursor
            let page = try await ask { queue throws(QueueError) in
                try await queue.members(of: group, rank: rank, cursor: place)
            }
            if !page.ids.isEmpty { try await body(page.ids) }
            cursor = page.next
        } while cursor != nil
    }
}

extension Option {
    static let group = Option("group", letter: "g", value: "NAME", "the jobs of this group")
}

extension Arguments {
    /// The validated name of the group from the option.
    func group() throws(CommandFailure) -> String? {
        guard let name = value(.group) else { return nil }
        guard KeyName.isValid(name) else {
            throw .usage("--group is '\(name)': it must be 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        return name
    }
}

extension CommandFailure {
    static func noGroup(_ name: String) -> CommandFailure {
        .failed("there is no group '\(name)': no job was pushed to it, or all its jobs are deleted")
    }
}
