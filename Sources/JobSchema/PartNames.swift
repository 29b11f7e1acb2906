/// Names of files in compact form: the names of thousands of segments differ only in a consecutive number.
package struct PartNames: Codable, Hashable, Sendable {
    /// The text before the number, or the whole name if there is no number.
    private var before: String
    /// The minimum number of digits; `nil` for a single name.
    private var digits: Int?
    private var first = 0
    private var count = 1
    private var after = ""

    private enum CodingKeys: String, CodingKey {
        case before = "b"
        case digits = "d"
        case first = "f"
        case count = "n"
        case after = "a"
    }

    /// Groups the names into runs; the last 32 runs can grow alternately.
    package static func runs(of names: some Sequence<String>) -> [PartNames] {
        var runs: [PartNames] = []
        for name in names {
            let isTaken = runs.indices.suffix(32).reversed().contains { runs[$0].take(name) }
            if !isTaken { runs.append(PartNames(before: name)) }
        }
        return runs
    }

    /// The names, at most `limit`.
    package func names(atMost limit: Int) -> [String] { (0..<max(0, min(count, limit))).map(name) }

    /// Adds the name if it is the next one of the run.
    private mutating func take(_ next: String) -> Bool {
        if digits == nil {
            guard let run = splits.first(where: { $0.name(1) == next }) else { return false }
            self = run
        } else if name(count) != next {
            return false
        }
        count += 1
        return true
    }

    private func name(_ offset: Int) -> String {
        guard let digits else { return before }
        let number = String(first &+ offset)
        return before + String(repeating: "0", count: max(0, min(digits, 255) - number.utf8.count)) + number + after
    }

    /// The single name split at each of its numbers.
    private var splits: [PartNames] {
        var (splits, rest) = ([PartNames](), before[...])
        let isDigit = { (character: Character) in character.isASCII && character.isNumber }
        while let start = rest.firstIndex(where: isDigit) {
            let number = rest[start...].prefix(while: isDigit)
            if let first = Int(number), first < .max {
                splits.append(
                    PartNames(
                        before: String(before[..<start]), digits: number.utf8.count, first: first,
                        after: String(before[number.endIndex...])))
            }
            rest = rest[number.endIndex...]
        }
        return splits
    }
}
