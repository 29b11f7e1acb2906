/// An error reply of Redis.
package struct RedisServerError: Error, Hashable, Sendable {
    /// The first word, in upper case; `ERR` if there is none.
    package let code: String
    /// The text after the first word.
    package let message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Parses the line of an error reply.
    init(line: String) {
        let line = Self.cause(line)
        let word = line.prefix { $0 != " " }
        let isCode = !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }
        code = isCode ? String(word) : "ERR"
        message = isCode ? String(line.dropFirst(word.count + 1)) : line
    }

    /// Normalizes the error of a script: unwraps one that Redis 6.2 quotes, and adds the code if Redis omits it inside
    /// scripts, or runs none (as Valkey without its module for Lua).
    private static func cause(_ line: String) -> String {
        // Redis reports this for any missing key while its hash slot moves.
        if line.contains("ttempted to access a non local key") { return "TRYAGAIN \(line)" }
        if line.contains("The user executing the script can't") || line.contains("ACL failure in script") {
            return "NOPERM \(line)"
        }
        if line.hasPrefix("ERR unknown command 'EVAL") || line.hasPrefix("ERR unknown command `EVAL") {
            // Redis repeats arguments in this message.
            return "NOSCRIPTING unknown command EVAL"
        }
        if line.hasPrefix("ERR Could not find scripting engine") { return "NOSCRIPTING \(line)" }
        guard line.hasPrefix("ERR Error running script"), let quote = line.firstRange(of: ": -") else { return line }
        return String(line[quote.upperBound...])
    }

    /// The same error as the one that clients throw.
    package var asError: RedisError { .server(code: code, message: message) }
}

extension RedisServerError: CustomStringConvertible {
    package var description: String { "\(code) \(message)" }
}
