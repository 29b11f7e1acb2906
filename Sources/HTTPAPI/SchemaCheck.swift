import JobSchema

/// Finds all members of a body that do not follow its schema: those that are unknown or missing, and those of another type, not one of
/// the words, or out of bounds. Patterns, and what is in members that are objects or lists, are checked by what reads them.
struct SchemaCheck {
    private(set) var parts: [Problem.Part] = []

    mutating func check(_ body: JSONValue, _ schema: JSONValue) {
        let rules = Self.members(schema)
        guard case .object(let members) = body else {
            return parts.append(.init("", "the body must be an object"))
        }
        let properties = Self.members(rules["properties"])
        let names = properties.keys.sorted()
        for name in members.keys.sorted() {
            if let property = properties[name] {
                check(members[name]!, property, named: name)
            } else if rules["additionalProperties"] != nil {
                let known = names.joined(separator: ", ")
                parts.append(.init("", "the body has no member `\(FieldText.shown(name))`: its members are \(known)"))
            }
        }
        if members.isEmpty, rules["minProperties"] != nil {
            parts.append(.init("", "the body must have at least one of \(names.joined(separator: ", "))"))
        }
        guard case .array(let required)? = rules["required"] else { return }
        for name in required.compactMap(\.field) where members[name] == nil {
            let expected = Self.expected(Self.members(properties[name]))
            parts.append(.init("/\(name)", "`\(name)` is missing: it must be \(expected)"))
        }
    }

    private mutating func check(_ value: JSONValue, _ schema: JSONValue, named name: String) {
        let rules = Self.members(schema)
        guard !Self.accepts(value, rules) else { return }
        parts.append(.init("/\(name)", "`\(name)` must be \(Self.expected(rules))"))
    }

    private static func accepts(_ value: JSONValue, _ rules: [String: JSONValue]) -> Bool {
        let (types, words) = (list(rules["type"]), list(rules["enum"]))
        guard !types.isEmpty else { return true }
        return switch value {
        case .null: types.contains("null")
        case .boolean: types.contains("boolean")
        case .array: types.contains("array")
        case .object(let members): types.contains("object") && (!members.isEmpty || rules["minProperties"] == nil)
        case .number: types.contains("number")
        case .integer(let number): types.contains("integer") && bounds(rules).contains(number)
        case .string(let text): types.contains("string") && (words.isEmpty || words.contains(text))
        }
    }

    /// What a value must be, for messages.
    private static func expected(_ rules: [String: JSONValue]) -> String {
        let (types, words, bounds) = (list(rules["type"]), list(rules["enum"]), bounds(rules))
        if !words.isEmpty { return FieldType.alternatives(words) }
        let names = types.map { type in
            switch type {
            case "integer": "a whole number from \(bounds.lowerBound) to \(bounds.upperBound)"
            case "boolean": "true or false"
            case "object": rules["minProperties"] == nil ? "an object" : "an object with at least one member"
            case "null": "null"
            default: "a text" + (rules["description"]?.field.map { " (\($0))" } ?? "")
            }
        }
        return types.isEmpty ? "an object" : FieldType.alternatives(names)
    }

    private static func members(_ value: JSONValue?) -> [String: JSONValue] {
        if case .object(let members)? = value { members } else { [:] }
    }

    private static func list(_ value: JSONValue?) -> [String] {
        switch value {
        case .array(let values): values.compactMap(\.field)
        case .string(let text): [text]
        default: []
        }
    }

    private static func bounds(_ rules: [String: JSONValue]) -> ClosedRange<Int64> {
        guard case .integer(let least)? = rules["minimum"], case .integer(let most)? = rules["maximum"] else {
            return .min ... .max
        }
        return least...most
    }
}
