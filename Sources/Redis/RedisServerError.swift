/// An error that Redis gave as an answer.
package struct RedisServerError: Error, Hashable, Sendable {
    /// The first word, in capitals; `ERR` if there is none.
    package let code: String
    /// What follows the first word.
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Splits the line of an error reply.
    init(line: String) {
        let word = line.prefix { $0 != " " }
        let isCode = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }
        code = isCode ? String(word) : "ERR"
        message = isCode ? String(line.dropFirst(word.count + 1)) : line
    }

    /// The same error, to be thrown by a client.
    package var asError: RedisError { .server(code: code, message: message) }
}

extension RedisServerError: CustomStringConvertible {
    package var description: String { "\(code) \(message)" }
}
