import JobSchema
import Jobs

extension QueueWalk {
    static let receivers = ["http://h0/", "http://h1/x"]

    /// Takes callbacks that are due, and ends those that anybody has, lost ones too.
    mutating func call() async throws {
        let open = sent.count(where: \.isOpen)
        tell("call \(open)")
        for callback in try await queue.claimCallbacks(count: Int.random(in: 1...4, using: &random)) {
            let key = QueueModel.Callbacks.key(callback)
            try check(model.callbacks.open[key] ?? 0 > 0, true, "whether \(key) is to be called")
            try check(
                sent.contains { $0.isOpen && $0.callback.id == callback.id }, false,
                "whether \(callback.id) is sent twice")
            sent.append(.init(callback: callback))
        }
        for url in Self.receivers {
            try check(
                sent.count { $0.isOpen && $0.callback.url == url } <= 2, true, "whether two at most are sent to \(url)")
        }
        for index in sent.indices where chance(60) {
            let callback = sent[index].callback
            let outcome: CallbackOutcome = [
                .delivered(status: 200), .refused("gone", status: 410), .again("busy", status: 503, retryAfter: nil),
            ].randomElement(using: &random)!
            let answer = try await queue.finishCallback(callback, outcome, after: .zero)
            if let first = sent[index].answer {
                let isLast = finished[callback.id] == callback.token
                try check(answer, isLast ? first : .stale, "the repeated end of \(callback.id)")
                continue
            }
            try check(answer == .stale, false, "whether \(callback.id) is no longer its sender's")
            if answer == .delivered || answer == .failed { model.callbacks.end(callback) }
            if case .waiting = answer { _ = try await queue.redeliver([callback.id]) }
            sent[index].answer = answer
            finished[callback.id] = callback.token
        }
        sent = sent.filter(\.isOpen) + sent.filter { !$0.isOpen }.suffix(3)
    }

    /// A callback that somebody took to send.
    struct Sent {
        let callback: Callback
        /// What the queue said of its end.
        var answer: FinishCallbackAnswer?
        var isOpen: Bool { answer == nil }
    }

    func compareCallbacks() async throws {
        let expected = model.callbacks.open.values.reduce(0, +)
        let found = try await queue.callbacks(limit: expected + 1).filter { $0.endedAt == nil }
        let names = found.map { "\($0.what) \(QueueModel.Callbacks.name($0.subject))" }
        let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
        try check(counts, model.callbacks.open, "the callbacks that are not over")
    }
}
