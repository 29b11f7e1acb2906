import JobSchema
import Text

/// The fields of a job as a client sends them in JSON.
enum FieldText {
    /// A value cut and escaped for a message.
    static func shown(_ text: String) -> String { PrintableText.shown(text) }

    /// The fields as text. Null omits a field; only the fields whose form is JSON take lists and objects.
    static func fields(_ value: JSONValue, at pointer: String) throws(Problem) -> [String: String] {
        guard case .object(let members) = value else {
            throw .wrong([.init(pointer, "a job must be an object")])
        }
        var fields: [String: String] = [:]
        for (name, member) in members {
            switch member {
            case .array, .object:
                guard isJSON(name) else {
                    let message = "`\(shown(name))` must be a text, a number or a truth value"
                    throw .wrong([
                        .init("\(pointer)/\(escaped(name))", message)
                    ])
                }
                fields[name] = member.field
            default: fields[name] = member.field
            }
        }
        return fields
    }

    /// Whether a field's value is itself JSON; an unknown field is refused later.
    static func isJSON(_ name: String) -> Bool { JobField.named(name).map { $0.placeholder == "JSON" } ?? true }

    static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}

extension Problem {
    /// The problem of a body with wrong parts.
    static func wrong(_ parts: [Part]) -> Problem {
        let others = parts.count > 1 ? " (and \(parts.count - 1) more)" : ""
        let first = parts.first ?? .init("", "the body is wrong")
        var problem = Problem(422, first.code, first.message + others)
        problem.parts = Array(parts.prefix(100))
        return problem
    }
}
