import Jobs

extension QueueModel {
    /// The callbacks that are not over, each as what it tells and of whom.
    struct Callbacks {
        var open: [String: Int] = [:]

        mutating func make(_ what: String, _ name: String) { open["\(what) \(name)", default: 0] += 1 }

        mutating func end(_ callback: Callback) {
            let key = Self.key(callback)
            open[key, default: 0] -= 1
            if open[key] == 0 { open[key] = nil }
        }

        static func key(_ callback: Callback) -> String { "\(callback.what) \(name(callback.subject))" }

        static func name(_ subject: Callback.Subject) -> String { subject.job ?? subject.group ?? "" }
    }

    /// Makes the callback of a job that ended.
    mutating func announce(_ id: String) {
        if jobs[id]!.callback != nil { callbacks.make("job.\(jobs[id]!.state)", id) }
    }

    /// Makes the callbacks of groups that have just ended.
    mutating func closeGroups() {
        for (name, group) in groups { groups[name]!.hasEnded = close(name, group) }
    }

    /// Makes a group's callback if it has just ended; answers whether it is over.
    mutating func close(_ name: String, _ group: Group) -> Bool {
        let left = group.ids.count { jobs[$0].map { !$0.state.isTerminal } ?? false }
        guard group.isSealed, left == 0 else { return false }
        if !group.hasEnded, group.callback != nil { callbacks.make("group.finished", name) }
        return true
    }

    mutating func seal(_ name: String, callback: String?) -> SealAnswer {
        guard let group = groups[name] else { return .unknown }
        if let callback {
            if group.hasEnded || group.callback != nil, group.callback != callback { return .callbackTaken }
            groups[name]!.callback = callback
        }
        groups[name]!.isSealed = true
        return .sealed
    }
}
