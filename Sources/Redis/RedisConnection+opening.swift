import Glibc
import Lifecycle

extension RedisConnection {
    /// Connects, shakes hands, and presents the user, the database and the name.
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
            // A name is a courtesy, which an account or a proxy may refuse.
            if index >= required, isUnknown || error.code == "NOPERM" { continue }
            // Redis repeats the arguments of a command that it does not know, and they may hold the password.
            guard !isUnknown else { throw .server(code: error.code, message: "unknown command in the greeting") }
            throw error.asError
        }
    }

    /// The name with what `CLIENT SETNAME` refuses replaced.
    private static func clientName(_ name: String) -> String {
        String(decoding: name.utf8.map { (33...126).contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }
}
