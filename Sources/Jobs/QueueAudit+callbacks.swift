import Lifecycle

/// The callbacks of a queue, read one after the other.
struct CallbackSnapshot {
    var all: [String: [String: String]] = [:]
    /// When each receiver is to be looked at, in ms.
    var receivers: [String: String] = [:]
    /// By receiver, when each is due.
    var waiting: [String: [String: String]] = [:]
    var sent: [String: Set<String>] = [:]
    var over: [String: String] = [:]
}

extension QueueSnapshot {
    /// Whether each callback is in exactly the places that its state says.
    func callbackProblems() -> [String] {
        var problems: [String] = []
        for (id, fields) in callbacks.all {
            let (receiver, isOver) = (fields["receiver"] ?? "", fields["state"] != nil)
            if (callbacks.over[id] != nil) != isOver {
                problems.append("callback \(id) is in or out of called wrongly")
            }
            if (callbacks.waiting[receiver]?[id] != nil) == isOver {
                problems.append("callback \(id) is in or out of callbacks:\(receiver) wrongly")
            }
            if mortal.contains("callback:" + id) != isOver {
                problems.append("callback \(id): whether it has a time to live")
            }
            if isOver, fields["token"] != nil { problems.append("callback \(id) is over and being sent") }
        }
        for id in callbacks.over.keys where callbacks.all[id] == nil {
            problems.append("called names \(id), which is gone")
        }
        for (receiver, ids) in callbacks.waiting {
            for id in ids.keys where callbacks.all[id]?["receiver"] != receiver {
                problems.append("callbacks:\(receiver) names \(id), which is none of its")
            }
            if callbacks.receivers[receiver] == nil { problems.append("callbacks does not name \(receiver)") }
        }
        for receiver in callbacks.receivers.keys where callbacks.waiting[receiver] == nil {
            problems.append("callbacks names \(receiver), for which none waits")
        }
        for (receiver, ids) in callbacks.sent {
            for id in ids where callbacks.waiting[receiver]?[id] == nil || callbacks.all[id]?["token"] == nil {
                problems.append("calling:\(receiver) names \(id), which is not being sent")
            }
        }
        return problems
    }

    /// Receivers whom no worker calls.
    func overdueCallbacks() -> [String] {
        callbacks.receivers.compactMap { receiver, score in
            let due = Int64(score) ?? 0
            guard due + 60_000 < now else { return nil }
            return "a callback to \(receiver) was due at \(WallClock.timestamp(milliseconds: due)), and nobody sent it"
        }
    }
}
