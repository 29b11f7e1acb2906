/// One argument of a command, with arbitrary bytes.
package enum RedisArgument: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case bytes([UInt8])

    /// The UTF-8 bytes of the text.
    package init(_ text: String) { self = .text(text) }
    /// The bytes as they are, which need not be UTF-8.
    package init(_ bytes: [UInt8]) { self = .bytes(bytes) }
    /// The number in decimal; it must fit in a signed 64-bit integer.
    package init(_ value: some BinaryInteger) { self = .integer(Int64(value)) }
}

extension RedisArgument: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .text(value) }
}

extension RedisArgument: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}
