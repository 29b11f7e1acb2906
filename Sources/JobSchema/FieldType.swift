import MediaTypes

/// The values that a field accepts.
package struct FieldType: Sendable {
    /// What a value must be, for messages.
    let rule: String
    /// The values, if there are only these.
    package let words: [String]
    /// The error code for other values.
    let code: ErrorCode
    /// Whether a value is one of them.
    let accepts: @Sendable (String) -> Bool

    private init(
        _ rule: String, words: [String] = [], code: ErrorCode = .invalidRequest,
        _ accepts: @escaping @Sendable (String) -> Bool
    ) {
        self.rule = rule
        self.words = words
        self.code = code
        self.accepts = accepts
    }

    /// Any text: a reader checks it, for its parts or together with other fields.
    static let text = FieldType("a text") { _ in true }

    static let boolean = words(["true", "false"])

    /// A position or length within the source.
    static let time = FieldType(
        "a time, such as 5:00, 1:02:03.5, 300 or 13230000/44100", code: .invalidTimeRange
    ) { MediaTime(parsing: $0) != nil }

    /// The length of a fade.
    static let fade = FieldType("a time up to 10:00, such as 2.5") { text in
        MediaTime(parsing: text).map { $0.seconds <= 600 } ?? false
    }

    /// The length of a segment.
    static let segmentDuration = FieldType("a time from 1 to 60 seconds") { text in
        MediaTime(parsing: text).map(SegmentSettings.durations.contains) ?? false
    }

    /// An instant, or a time after the job's admission.
    static let moment = FieldType("an ISO 8601 instant, or seconds from admission up to a year") {
        FieldReader.moment($0) != nil
    }

    /// Text that the parser accepts.
    static func value<Value>(_ rule: String, _ parse: @escaping @Sendable (String) -> Value?) -> FieldType {
        FieldType(rule) { parse($0) != nil }
    }

    /// A whole number, or a word instead of one.
    static func whole(_ bounds: ClosedRange<Int>, or word: String? = nil) -> FieldType {
        FieldType(
            (word.map { "\($0), or " } ?? "") + "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
        ) { text in text == word || Int(text).map(bounds.contains) ?? false }
    }

    /// A finite number, or a word instead of one.
    static func number(_ rule: String, _ bounds: ClosedRange<Double>? = nil, or word: String? = nil) -> FieldType {
        FieldType(rule) { text in
            text == word || decimal(text).map { $0.isFinite && bounds?.contains($0) ?? true } ?? false
        }
    }

    /// A number in the forms that the scripts of the queue read, too: no hexadecimal one.
    static func decimal(_ text: String) -> Double? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) } ? Double(text) : nil
    }

    /// A number of seconds.
    static func seconds(_ bounds: ClosedRange<Double>) -> FieldType {
        number("seconds from \(Int(bounds.lowerBound)) to \(Int(bounds.upperBound))", bounds)
    }

    /// A name that can be part of a Redis key.
    static func name(atMost count: Int = 64, also others: String = "") -> FieldType {
        let characters = ["_", "."] + others.map(String.init) + ["-"]
        return FieldType("1 to \(count) of A-Z a-z 0-9 \(characters.joined(separator: " "))") {
            KeyName.isValid($0, atMost: count, also: others)
        }
    }

    /// One of the words, or another spelling of one, which the parser accepts.
    static func words(_ words: [String], _ parse: (@Sendable (String) -> String?)? = nil) -> FieldType {
        let rule = words.count > 3 ? "one of \(words.joined(separator: " "))" : alternatives(words)
        return FieldType(rule, words: words) { text in words.contains(text) || parse?(text) != nil }
    }

    /// One of the type's words.
    static func word<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> FieldType {
        words(type.allCases.map(\.rawValue))
    }

    /// The words as `a`, `a or b` or `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        let head = words.dropLast().joined(separator: ", ")
        return (head.isEmpty ? "" : head + " or ") + (words.last ?? "")
    }
}
