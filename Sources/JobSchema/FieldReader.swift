import MediaTypes
import Text

/// Reads the fields of a job, or of one of its outputs. What is wrong is collected; what is wrong by its type reads as a field
/// that is not given.
struct FieldReader {
    let fields: FieldTable
    private let faults: FieldFaults
    /// `outputs[1]`, for one of several outputs.
    private let output: String?

    /// The fields of a job.
    init(_ given: [String: String], _ faults: FieldFaults) throws(Failure) {
        guard given.count <= JobSpec.Limit.fields else {
            throw Failure(
                .invalidRequest, "the job has \(given.count) fields, over the limit of \(JobSpec.Limit.fields)")
        }
        let bytes = given.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= JobSpec.Limit.bytes || given.values.contains(where: Self.isTooLong) else {
            throw Failure(.invalidRequest, "the job has \(bytes) bytes, over the limit of \(JobSpec.Limit.bytes)")
        }
        self.faults = faults
        output = nil
        fields = FieldTable(given, where: { name, value in Self.isRight(name, value, faults, nil) })
    }

    /// The fields of one of several outputs: the job's, replaced by the output's own; `nil` removes one of the job's.
    init(_ job: FieldReader, _ own: [String: String?], output: String) {
        faults = job.faults
        self.output = output
        var fields = job.fields.filter { JobField.named($0)?.scope == .output }
        for (name, value) in own.sorted(by: { $0.key < $1.key }) {
            fields[name] = nil
            if let field = JobField.named(name), field.scope != .output {
                let message = "`\(name)` applies to all outputs: give it beside `outputs`, not inside"
                Self.refuse(name, message, .invalidRequest, job.faults, output)
            } else if let value, Self.isRight(name, value, job.faults, output) {
                fields[name] = value
            }
        }
        self.fields = FieldTable(fields)
    }

    /// Adds a fault of a field.
    func refuse(_ name: String, _ message: String, code: ErrorCode = .invalidRequest) {
        Self.refuse(name, message, code, faults, output)
    }

    /// Adds the fault of a value that does not follow the rule; the words are those that may have been meant.
    func refuse(_ name: String, mustBe rule: String, words: [String] = []) {
        refuse(name, Self.message(name, fields[name] ?? "", rule, words))
    }

    /// A whole number.
    func whole(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }

    /// A number.
    func number(_ name: String) -> Double? { fields[name].flatMap { Double($0) } }

    /// A number of seconds, to the millisecond.
    func seconds(_ name: String) -> Duration? {
        number(name).map { .milliseconds(Int64(($0 * 1000).rounded())) }
    }

    /// A position or length within the source.
    func time(_ name: String) -> MediaTime? { fields[name].flatMap { MediaTime(parsing: $0) } }

    /// One of the type's words.
    func word<Value: RawRepresentable<String>>(_ name: String) -> Value? {
        fields[name].flatMap { Value(rawValue: $0) }
    }

    /// A value cut and escaped for a message.
    static func shown(_ value: String) -> String { PrintableText.shown(value) }

    private static func isTooLong(_ value: String) -> Bool { value.utf8.count > JobSpec.Limit.valueBytes }

    private static func message(_ name: String, _ value: String, _ rule: String, _ words: [String]) -> String {
        "`\(name)` is `\(shown(value))`\(Spelling.hint(for: value, among: words)): it must be \(rule)"
    }

    /// Whether the field is known, and has a value of its type.
    private static func isRight(_ name: String, _ value: String, _ faults: FieldFaults, _ output: String?) -> Bool {
        guard let type = JobField.named(name)?.type else {
            let hint = Spelling.hint(for: name, among: JobField.all.map(\.name))
            let message = "unknown field `\(shown(name))`\(hint); the fields are listed by `respool enqueue --help`"
            refuse(shown(name), message, .invalidRequest, faults, output)
            return false
        }
        let message: String
        if isTooLong(value) {
            message = "`\(name)` is longer than \(JobSpec.Limit.valueBytes) bytes"
        } else if value.utf8.contains(0) {
            message = "`\(name)` contains a null byte"
        } else if !type.accepts(value) {
            message = Self.message(name, value, type.rule, type.words)
        } else {
            return true
        }
        refuse(name, message, type.code, faults, output)
        return false
    }

    /// In one of several outputs, a field at the start of the message is shown as that output's.
    private static func refuse(
        _ name: String, _ message: String, _ code: ErrorCode, _ faults: FieldFaults, _ output: String?
    ) {
        guard let output else { return faults.add(code, name, message) }
        let isNamed = message.hasPrefix("`\(name)`")
        faults.add(
            code, "\(output).\(name)", isNamed ? "`\(output).\(message.dropFirst())" : "`\(output)`: \(message)")
    }
}
