import Glibc
import Lifecycle

extension RedisConnection {
    /// Connects, performs the TLS handshake if needed, authenticates, and sets the database and the client's name.
    package static func open(
        _ url: RedisURL, name: String, until deadline: Deadline, interruption: Interruption = Interruption()
    ) throws(RedisError) -> RedisConnection {
        let dialer = Dialer(place: url.description, deadline: deadline, interruption: interruption)
        let wire = try dialer.dial(url)
        var connection = try RedisConnection(over: wire, place: url.description, interruption: interruption)
        try connection.introduce(url, name, deadline)
        return connection
    }

    private mutating func introduce(_ url: RedisURL, _ name: String, _ deadline: Deadline) throws(RedisError) {
        var commands: [RedisCommand] = []
        if let password = url.password {
            commands.append(RedisCommand(["AUTH"] + (url.user.map { [.text($0)] } ?? []) + [.text(password)]))
        }
        if url.database != 0 { commands.append(["SELECT", .integer(Int64(url.database))]) }
        let required = commands.count
        commands.append(["CLIENT", "SETNAME", .text(Self.clientName(name))])
        let replies = try send(commands, until: deadline)
        for (index, reply) in replies.enumerated() {
            guard case .error(let error) = reply else { continue }
            let isUnknown = error.message.hasPrefix("unknown command")
            // The client's name is optional; an account or a proxy may reject it.
            if index >= required, isUnknown || error.code == "NOPERM" { continue }
            // Redis repeats the arguments of an unknown command in the message, and they may contain the password.
            guard !isUnknown else { throw .server(code: error.code, message: "unknown command in the greeting") }
            throw error.asError
        }
    }

    /// The name, with characters replaced that `CLIENT SETNAME` rejects.
    private static func clientName(_ name: String) -> String {
        String(decoding: name.utf8.map { (33...126).contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}
