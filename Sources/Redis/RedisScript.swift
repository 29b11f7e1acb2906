import Crypto
import Synchronization

/// A Lua script, and the digest by which Redis knows it.
package struct RedisScript: Sendable {
    /// For people.
    package let name: String
    package let source: [UInt8]
    private let cachedDigest = CachedDigest()

    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// SHA-1 of the source, in hexadecimal.
    package var digest: String { cachedDigest.value(of: source) }

    /// Calls the script by its digest; Redis answers `NOSCRIPT` if it does not hold it.
    package func evalsha(keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        command("EVALSHA", .text(digest), keys, arguments)
    }

    /// Calls the script by its source, which Redis then holds.
    package func eval(keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        command("EVAL", .bytes(source), keys, arguments)
    }

    /// The same for all copies of this value, and for none else while one lives.
    var identity: ObjectIdentifier { ObjectIdentifier(cachedDigest) }

    private func command(
        _ name: String, _ script: RedisArgument, _ keys: [String], _ arguments: [RedisArgument]
    ) -> RedisCommand {
        var command: RedisCommand = [.text(name), script, .integer(Int64(keys.count))]
        for key in keys { command.append(key) }
        command.append(contentsOf: arguments)
        return command
    }
}

/// A digest that is made when it is first asked for, and then kept.
///
/// Not before: to prepare OpenSSL takes most of a millisecond, and a command that runs one script needs no digest.
private final class CachedDigest: Sendable {
    private let digest = Mutex<String?>(nil)

    func value(of bytes: [UInt8]) -> String {
        digest.withLock { digest in
            let value = digest ?? sha1(bytes)
            digest = value
            return value
        }
    }
}
