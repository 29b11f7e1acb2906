import Redis

extension QueueReading {
    /// Checks that each callback is in exactly the sets of its state.
    mutating func readCallbacks(_ ids: [String]) async throws(QueueError) {
        let receivers = try await queue.send(ids.map { ["HGET", key("callback:" + $0), "receiver"] }).map {
            $0.string ?? ""
        }
        let answers = try await atomically(
            each: zip(ids, receivers).map { id, receiver in
                [
                    ["HMGET", key("callback:" + id), "state", "token"], ["PTTL", key("callback:" + id)],
                    ["ZSCORE", .text(queue.keys.called), .text(id)],
                    ["ZSCORE", .text(queue.keys.callbacks(receiver)), .text(id)],
                ]
            })
        for ((id, receiver), answers) in zip(zip(ids, receivers), answers) where answers.count == 4 {
            guard answers[1] != .integer(-2) else { continue }
            let fields = (answers[0].array ?? []).map(\.string)
            let isTerminal = fields.first != .some(nil)
            func expect(_ holds: Bool, _ what: String) {
                if !holds { suspects.add("callback:" + id, "callback \(id)\(what)") }
            }
            expect(
                !answers[2].isNull == isTerminal,
                isTerminal ? " has finished, but is not in called" : " is pending, but is in called")
            let waiting = "callbacks:\(receiver)"
            expect(
                answers[3].isNull == isTerminal,
                isTerminal ? " has finished, but is in \(waiting)" : " is pending, but is not in \(waiting)")
            expect(
                (answers[1] != .integer(-1)) == isTerminal,
                isTerminal ? " has finished, but never expires" : " is pending, but expires")
            expect(!isTerminal || fields.last == .some(nil), " has finished, but is being sent")
        }
    }

    /// Checks that every member of `called` exists.
    mutating func readCalled() async throws(QueueError) {
        try await readNames("called") {
            "callback:" + $0
        } problem: {
            "called contains \($0), which does not exist"
        }
    }

    /// Checks that every receiver in `callbacks` has a waiting callback.
    mutating func readReceivers() async throws(QueueError) {
        try await readNames("callbacks") {
            "callbacks:" + $0
        } problem: {
            "callbacks contains \($0), for which no callback waits"
        }
    }

    /// Checks that the keys of all members of a sorted set exist.
    mutating func readNames(
        _ name: String, _ named: (String) -> String, problem: (String) -> String
    ) async throws(QueueError) {
        var walk = KeyWalk(queue, sorted: [name])
        while let members = try await walk.next() {
            let lost = try await lost(members) { key(named($0)) }
            for member in lost { suspects.add(name, problem(member.text)) }
        }
    }

    /// Checks that only callbacks to a receiver wait for it, and that `callbacks` contains the receiver.
    mutating func readWaiting(_ receivers: [String]) async throws(QueueError) {
        var walk = KeyWalk(queue, sorted: receivers.map { "callbacks:" + $0 })
        while let members = try await walk.next() {
            let foreign = try await wrong(members) {
                ["HGET", key("callback:" + $0.text), "receiver"]
            } unless: { member, receiver in
                member.name == "callbacks:" + (receiver.string ?? "")
            }
            for member in foreign {
                suspects.add(member.name, "\(member.name) contains \(member.text), which does not belong there")
            }
        }
        let pairs = try await atomically(
            each: receivers.map {
                [
                    ["EXISTS", .text(queue.keys.callbacks($0))], ["ZSCORE", .text(queue.keys.callbacks), .text($0)],
                ]
            })
        for (receiver, pair) in zip(receivers, pairs) where pair == [.integer(1), .null] {
            suspects.add("callbacks:" + receiver, "callbacks does not contain \(receiver)")
        }
    }

    /// Checks that every callback in `calling:<receiver>` is being sent.
    mutating func readCalling(_ receivers: [String]) async throws(QueueError) {
        var walk = KeyWalk(queue, sets: receivers.map { "calling:" + $0 })
        while let members = try await walk.next() {
            let idle = try await wrong(members) {
                ["HGET", key("callback:" + $0.text), "token"]
            } unless: {
                !$1.isNull
            }
            for member in idle {
                suspects.add(member.name, "\(member.name) contains \(member.text), which is not being sent")
            }
        }
    }
}
