import JobSchema

/// JSON Schemas, from which the document is made.
enum Schema {
    /// An object whose properties are all present.
    static func object(_ properties: [String: JSONValue], optional: [String] = []) -> JSONValue {
        let required = properties.keys.filter { !optional.contains($0) }.sorted()
        return [
            "type": "object", "properties": .object(properties), "required": .array(required.map { .string($0) }),
        ]
    }

    static func array(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

    /// A value of a type, or null.
    static func nullable(_ type: JSONValue) -> JSONValue { ["type": [type, "null"]] }

    /// A schema among the document's components.
    static func named(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    static let string: JSONValue = ["type": "string"]
    static let integer: JSONValue = ["type": "integer"]
    static let number: JSONValue = ["type": "number"]
    static let boolean: JSONValue = ["type": "boolean"]
    static let any: JSONValue = [:]

    static func word(_ words: [String]) -> JSONValue {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }
}
