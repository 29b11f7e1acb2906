/// The form of a setting's text.
package struct ValueForm<Value: Sendable>: Sendable {
    /// The form in words, such as `a whole number from 1 to 1024`.
    package let expected: String
    /// The value of a text; `nil` if the text has another form.
    package let parse: @Sendable (String) -> Value?

    init(expected: String, parse: @escaping @Sendable (String) -> Value?) {
        self.expected = expected
        self.parse = parse
    }
}

extension ValueForm<String> {
    /// A text that the target with the setting parses.
    static func text(_ expected: String) -> Self { Self(expected: expected) { $0 } }

    /// One of the given words.
    static func word(_ words: String...) -> Self {
        let last = words.last!
        return Self(expected: words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " or " + last) {
            words.contains($0) ? $0 : nil
        }
    }
}

extension ValueForm<Bool> {
    static var boolean: Self { Self(expected: "true or false") { Bool($0) } }
}

extension ValueForm<Int> {
    static func whole(_ range: ClosedRange<Int>, of unit: String? = nil) -> Self {
        let number = "a whole number" + (unit.map { " of \($0)" } ?? "")
        return Self(expected: "\(number) from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueForm<Double> {
    static var fraction: Self {
        Self(expected: "a number from 0 to 1") { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } }
    }
}

extension ValueForm<Duration> {
    static func seconds(_ range: ClosedRange<Double>) -> Self {
        func shown(_ number: Double) -> String { number == number.rounded() ? "\(Int(number))" : "\(number)" }
        return Self(expected: "a number of seconds from \(shown(range.lowerBound)) to \(shown(range.upperBound))") {
            Double($0).flatMap { range.contains($0) ? .seconds($0) : nil }
        }
    }
}

extension ValueForm<[String]> {
    /// Texts with a separator, which the target with the setting parses; empty ones are skipped.
    static func list(of items: String, separator: Character) -> Self {
        Self(expected: "\(items), separated by '\(separator)'") { $0.split(separator: separator).map(String.init) }
    }

    /// Some of the given words.
    static func words(of words: String...) -> Self {
        Self(expected: "some of \(words.joined(separator: ", ")), separated by ','") {
            let found = $0.split(separator: ",").map(String.init)
            return found.allSatisfy(words.contains) ? found : nil
        }
    }
}

/// A number of kept items and their maximum age.
package struct CountAndAge: Hashable, Sendable {
    /// The maximum number of items to keep.
    package let count: Int
    /// `nil` if only a number is given.
    package let age: Duration?
}

extension ValueForm<CountAndAge> {
    /// `10000` or `10000/7d`.
    static var countAndAge: Self {
        Self(expected: "a count up to 100000000, optionally with an age in d, h, m or s, as in 10000/7d") { text in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let count = Int(parts[0]), (0...100_000_000).contains(count) else { return nil }
            guard parts.count == 2 else { return CountAndAge(count: count, age: nil) }
            return age(parts[1]).map { CountAndAge(count: count, age: $0) }
        }
    }

    /// `7d`, `12h`, `30m`, `45s`.
    private static func age(_ text: String) -> Duration? {
        let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            (1...100_000).contains(number)
        else { return nil }
        return .seconds(number * unit)
    }
}
