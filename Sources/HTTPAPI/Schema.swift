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
    static func nullable(_ type: String) -> JSONValue { ["type": [.string(type), "null"]] }

    /// A value of a schema, or null.
    static func nullable(_ schema: JSONValue) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

    /// A schema among the document's components.
    static func named(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    static let string: JSONValue = ["type": "string"]
    static let integer: JSONValue = ["type": "integer"]
    static let number: JSONValue = ["type": "number"]
    static let boolean: JSONValue = ["type": "boolean"]
    static let any: JSONValue = [:]
    static let bytes: JSONValue = ["type": "string", "format": "binary"]
    /// A time of day, as all responses have it.
    static let instant: JSONValue = ["type": "string", "format": "date-time"]
    /// A time or a duration within a source.
    static let time: JSONValue = ["type": ["string", "number", "null"], "minimum": 0, "pattern": .string(timePattern)]
    /// Where a job reads its audio from.
    static let source: JSONValue = ["type": "string", "pattern": .string(sourcePattern)]

    private static let timePattern =
        "^([0-9]{1,12}/[1-9][0-9]{0,8}|([0-9]{1,6}:)?([0-5]?[0-9]:)?[0-5]?[0-9](\\.[0-9]{1,9})?|[0-9]{1,9}(\\.[0-9]{1,9})?)$"
    private static let sourcePattern =
        "^((https?|ftps?|sftp)://([^/?#@\\s]+@)?[^/?#@:\\s][^/?#@\\s]*([/?#].*)?|file://.+|s3://[A-Za-z0-9_.-]{3,64}/.+|upload:up_[0-9a-f]{32})$"

    static func word(_ words: [String]) -> JSONValue {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }
}
