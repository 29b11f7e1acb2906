import Lifecycle
import Redis
import Text

/// A server of Redis or Valkey that only this user reaches, through a unix socket.
struct PrivateRedis: Sendable {
    /// The path of the socket; at most 107 bytes (unix(7)).
    let socket: String
    /// The folder of its files.
    let folder: String
    /// Whether it keeps the jobs in an append-only file.
    let isDurable: Bool

    static let maxSocketBytes = 107

    /// The command line. Options on it take the place of a configuration file.
    var words: [String] {
        [
            InstalledProgram.redisServer.name, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700",
            "--dir", folder,
            "--save", "", "--maxmemory-policy", "noeviction", "--appendonly", isDurable ? "yes" : "no",
        ]
    }

    /// The address for settings and options.
    var address: String { "unix://" + PercentEncoding.encoded(path: socket) }

    /// Waits until the server replies; throws what `fault` returns, or an error after the time limit.
    func ready(
        within limit: Duration, fault: () -> CommandFailure?
    ) async throws(CommandFailure) -> RedisURL {
        let url: RedisURL
        do throws(RedisError) { url = try RedisURL(address) } catch { throw .failed("\(error)") }
        let client = RedisClient(url: url, name: "respool")
        let end = ContinuousClock.now + limit
        while .now < end, !Task.isCancelled {
            if let fault = fault() { throw fault }
            if (try? await client.send(["PING"])) == .text("PONG") {
                await client.close()
                return url
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        await client.close()
        throw .unreachable("the private redis-server does not respond within \(limit.rounded) s")
    }
}
