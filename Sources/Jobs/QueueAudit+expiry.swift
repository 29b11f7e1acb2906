extension QueueSnapshot {
    /// Whether exactly the jobs that time may give up are named, with the right time.
    func expiryProblems() -> [String] {
        jobs.compactMap { id, fields in
            let (named, wanted) = (indexes["expiring"]?[id], Self.lastMoment(fields))
            guard named != wanted else { return nil }
            return "job \(id) is given up at \(named ?? "no time"), which should be \(wanted ?? "no time")"
        }
    }

    /// Milliseconds since 1970; a job that was started is late only for its deadline.
    private static func lastMoment(_ fields: [String: String]) -> String? {
        guard ["waiting", "delayed"].contains(fields["state"]), fields["commit"] == nil else { return nil }
        let start = fields["token"] == nil ? fields["expires"] : nil
        return [start, fields["deadline"]].compactMap { $0.flatMap { Int64($0) } }.min().map(String.init)
    }
}
