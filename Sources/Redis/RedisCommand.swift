/// A command with its arguments, stored in one buffer.
package struct RedisCommand: Hashable, Sendable {
    /// All arguments, one after the other.
    private(set) var bytes: [UInt8] = []
    /// The length of each argument in bytes.
    private(set) var lengths: [Int] = []

    /// Creates an empty command.
    package init() {}

    /// Whether the command runs a script (`EVAL`, `EVALSHA`).
    var isScript: Bool { bytes.starts(with: "EVAL".utf8) }

    /// Creates a command from its name and arguments.
    package init(_ arguments: some Sequence<RedisArgument>) {
        append(contentsOf: arguments)
    }

    /// Adds one argument; integers are written in decimal digits.
    package mutating func append(_ argument: RedisArgument) {
        switch argument {
        case .text(let text): append(text)
        case .bytes(let bytes): append(bytes)
        case .integer(let value): append(String(value))
        }
    }

    /// Adds one argument as UTF-8.
    package mutating func append(_ text: String) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        lengths.append(bytes.count - start)
    }

    /// Adds one argument with arbitrary bytes.
    package mutating func append(_ argument: [UInt8]) {
        bytes.append(contentsOf: argument)
        lengths.append(argument.count)
    }

    /// Adds arguments in their order.
    package mutating func append(contentsOf arguments: some Sequence<RedisArgument>) {
        for argument in arguments { append(argument) }
    }
}

extension RedisCommand: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: RedisArgument...) { self.init(elements) }
}
