/// A reply or a part of one (RESP 2).
package enum RedisValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// A status such as `OK`.
    case text(String)
    /// A bulk string, with arbitrary bytes.
    case bytes([UInt8])
    case array([RedisValue])
    case error(RedisServerError)
}

extension RedisValue {
    /// The text of a status or of a bulk string, with invalid UTF-8 repaired.
    package var string: String? {
        switch self {
        case .text(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// An integer, or a text that is a decimal integer.
    package var integer: Int64? {
        if case .integer(let value) = self { value } else { string.flatMap { Int64($0) } }
    }

    /// The bytes of a status or of a bulk string.
    package var bytes: [UInt8]? {
        switch self {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        default: nil
        }
    }

    /// The elements of an array; `nil` for other types.
    package var array: [RedisValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// A flat list of names and values, as `HGETALL` returns it; a repeated name has its last value.
    package var dictionary: [String: RedisValue]? {
        guard let values = array, values.count.isMultiple(of: 2) else { return nil }
        var result: [String: RedisValue] = [:]
        result.reserveCapacity(values.count / 2)
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let name = values[index].string else { return nil }
            result[name] = values[index + 1]
        }
        return result
    }

    /// Whether the reply is null.
    package var isNull: Bool { self == .null }

    /// Returns the value; throws it if it is an error.
    package func get() throws(RedisError) -> RedisValue {
        if case .error(let error) = self { throw error.asError }
        return self
    }
}
