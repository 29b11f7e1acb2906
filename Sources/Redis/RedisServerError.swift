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
        let line = Self.cause(line)
        let word = line.prefix { $0 != " " }
        let isCode = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }
        code = isCode ? String(word) : "ERR"
        message = isCode ? String(line.dropFirst(word.count + 1)) : line
    }

    /// What is behind the failure of a script: an error that Redis 6.2 only quotes, or one that has a code where no script asks.
    private static func cause(_ line: String) -> String {
        // Said of any key that is not there while a slot moves.
        if line.contains("ttempted to access a non local key") { return "TRYAGAIN \(line)" }
        if line.contains("The user executing the script can't") || line.contains("ACL failure in script") {
            return "NOPERM \(line)"
        }
        guard line.hasPrefix("ERR Error running script"), let quote = line.firstRange(of: ": -") else { return line }
        return String(line[quote.upperBound...])
    }

    /// The same error, to be thrown by a client.
    package var asError: RedisError { .server(code: code, message: message) }
}

extension RedisServerError: CustomStringConvertible {
    package var description: String { "\(code) \(message)" }
}
