import JobSchema

/// The result of a command for one job or callback.
struct JobActionResult: Sendable {
    let word: String
    let reason: String?
    let isGood: Bool

    static let unknown = JobActionResult("unknown", "there is no such job", isGood: false)

    init(_ word: String, _ reason: String? = nil, isGood: Bool) {
        self.word = word
        self.reason = reason
        self.isGood = isGood
    }
}

/// Prints a line for each result.
struct JobActionReport: Sendable {
    let isJSON: Bool
    /// Whether they go to standard error, because the output is a number.
    var isMessage = false

    /// A result as JSON.
    private struct Line: Encodable {
        let id: String
        let result: String
        @Nullable var reason: String?
    }

    /// Prints the results; returns whether all are good.
    func show(_ ids: [String], _ results: [JobActionResult]) -> Bool {
        for (id, result) in zip(ids, results) {
            let reason = result.reason.map { ": \($0)" } ?? ""
            let text =
                isJSON
                ? JSONLine.text(Line(id: id, result: result.word, reason: result.reason))
                : TextLayout.printable("\(id) \(result.word.spaced)\(reason)")
            if isMessage { StandardStream.error("respool: \(text)\n") } else { StandardStream.output(text + "\n") }
        }
        return results.allSatisfy(\.isGood)
    }
}

extension String {
    /// The word as text for people: `too late` instead of `too_late`.
    fileprivate var spaced: String { String(map { $0 == "_" ? " " : $0 }) }
}
