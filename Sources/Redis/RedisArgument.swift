/// One argument of a command, with arbitrary bytes.
package enum RedisArgument: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case bytes([UInt8])

    package init(_ text: String) { self = .text(text) }
    package init(_ bytes: [UInt8]) { self = .bytes(bytes) }
    package init(_ value: some BinaryInteger) { self = .integer(Int64(value)) }
}

extension RedisArgument: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self = .text(value) }
}

extension RedisArgument: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
}
