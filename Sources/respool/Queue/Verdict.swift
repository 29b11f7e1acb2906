import SlotProtocol

/// What became of a wish about one job.
struct Verdict: Sendable {
    let word: String
    let reason: String?
    let isGood: Bool

    static let unknown = Verdict("unknown", "there is no such job", isGood: false)

    init(_ word: String, _ reason: String? = nil, isGood: Bool) {
        self.word = word
        self.reason = reason
        self.isGood = isGood
    }
}

/// Prints a line for each verdict.
struct VerdictReport: Sendable {
    let isJSON: Bool

    /// A verdict as a program reads it.
    private struct Line: Encodable {
        let id: String
        let result: String
        @Nullable var reason: String?
    }

    /// Answers whether all are good.
    func show(_ ids: [String], _ verdicts: [Verdict]) -> Bool {
        for (id, verdict) in zip(ids, verdicts) {
            let reason = verdict.reason.map { ": \($0)" } ?? ""
            let text =
                isJSON
                ? JSONLine.text(Line(id: id, result: verdict.word, reason: verdict.reason))
                : TextLayout.printable("\(id) \(verdict.word.spaced)\(reason)")
            StandardStream.output(text + "\n")
        }
        return verdicts.allSatisfy(\.isGood)
    }
}

extension String {
    /// The word for people: `too late` instead of `too_late`.
    fileprivate var spaced: String { String(map { $0 == "_" ? " " : $0 }) }
}
