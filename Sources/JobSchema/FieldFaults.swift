import FoundationEssentials
import Text

/// What is wrong with the fields of a job, collected while they are read.
final class FieldFaults {
    private var found: [WrongField] = []
    private var code = ErrorCode.invalidRequest

    /// Adds a fault, unless one of the same field was found before.
    func add(_ code: ErrorCode, _ field: String, _ message: String) {
        guard !found.contains(where: { $0.field == field }) else { return }
        if found.isEmpty { self.code = code }
        found.append(WrongField(field: field, message: message))
    }

    /// The failure of the job; `nil` if all fields are right.
    var failure: Failure? {
        guard let first = found.first else { return nil }
        let others = found.count > 1 ? " (and \(found.count - 1) more)" : ""
        var fields = found.prefix(Failure.maxFields).map {
            WrongField(field: $0.field, message: $0.message.prefix(utf8Bytes: 1024))
        }
        while fields.count > 1, Self.bytes(fields) > Failure.maxFieldBytes { fields.removeLast() }
        // An escaped byte takes six.
        if Self.bytes(fields) > Failure.maxFieldBytes {
            let message = fields[0].message.prefix(utf8Bytes: Failure.maxFieldBytes / 8)
            fields = [WrongField(field: fields[0].field.prefix(utf8Bytes: 64), message: message)]
        }
        return Failure(code, first.message + others, fields: fields)
    }

    private static func bytes(_ fields: [WrongField]) -> Int { (try? JSONEncoder().encode(fields).count) ?? .max }
}
