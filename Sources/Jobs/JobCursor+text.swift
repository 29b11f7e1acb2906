import JobSchema

extension JobCursor {
    /// The position as text of letters, digits and `-_~.`, for clients.
    package var text: String {
        shelves.map { shelf in
            guard let last = last[shelf] else { return shelf.name }
            return "\(shelf.name)~\(last.score)~\(last.id)"
        }.joined(separator: "_")
    }

    /// Parses a position; `nil` if the text is not one.
    package init?(text: String) {
        var shelves: [Shelf] = []
        var last: [Shelf: Position] = [:]
        for part in text.split(separator: "_", omittingEmptySubsequences: false) {
            let words = part.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
            let shelf: Shelf? = words[0] == "parked" ? .parked : JobState(rawValue: words[0]).map { .state($0) }
            guard let shelf, !shelves.contains(shelf) else { return nil }
            shelves.append(shelf)
            if words.count == 1 { continue }
            guard words.count == 3, Double(words[1])?.isFinite == true, words[1].utf8.count <= 32,
                KeyName.isValid(words[2]), shelf != .state(.queued) || words[2].isReadableStreamID
            else { return nil }
            last[shelf] = Position(score: words[1], id: words[2])
        }
        guard JobQueue.order.contains(where: { Set(shelves).isSubset(of: $0) }) else { return nil }
        self.init(shelves: shelves, last: last)
    }
}

extension String {
    /// Whether a stream can be read from after an id; nothing is after the greatest one.
    fileprivate var isReadableStreamID: Bool {
        isStreamID && split(separator: "-").contains { UInt64($0) != .max }
    }
}

extension GroupCursor {
    /// The position as text, for clients.
    package var text: String { score }

    /// Parses a position; `nil` if the text is not one.
    package init?(text: String) {
        guard Double(text)?.isFinite == true, text.utf8.count <= 32 else { return nil }
        self.init(score: text)
    }
}
