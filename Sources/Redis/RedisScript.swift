import Crypto
import Synchronization

/// A Lua script and its digest, by which Redis identifies it.
package struct RedisScript: Sendable {
    /// The name for messages.
    package let name: String
    /// The source text.
    package let source: [UInt8]
    private let cachedDigest = CachedDigest()

    package init(name: String, source: [UInt8]) {
        self.name = name
        self.source = source
    }

    /// SHA-1 of the source, in hexadecimal.
    package var digest: String { cachedDigest.value(of: source) }

    /// Calls the script by its digest; Redis replies `NOSCRIPT` if it does not have the script.
    package func evalsha(keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        command("EVALSHA", .text(digest), keys, arguments)
    }

    /// Calls the script by its source, which Redis then caches.
    package func eval(keys: [String], arguments: [RedisArgument]) -> RedisCommand {
        command("EVAL", .bytes(source), keys, arguments)
    }

    /// Equal for all copies of this value, and different from others while a copy exists.
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

/// A digest that is computed at the first use and then cached.
///
/// It is computed lazily because initializing OpenSSL takes most of a millisecond, and a command that runs one script
/// needs no digest.
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
