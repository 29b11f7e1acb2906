import FoundationEssentials

/// A server that returns keys of `ObjectStore`, like Amazon's container credentials service and instance metadata service.
package final class RoleServer: Sendable {
    package static let containerToken = "container-token"
    private let process: ChildProcess
    package let port: Int

    /// Starts the server. Its keys expire after `lifetime` seconds.
    package init(lifetime: Int) async throws {
        let keys = ObjectStore.passingKeys
        process = try await ChildProcess(
            "python3",
            [
                Script.path("role_server.py"), "\(lifetime)", Self.containerToken, keys.identifier, keys.secret,
                keys.sessionToken,
            ],
            input: .open)
        let process = process
        try await eventually("the role server says its port") { process.output.contains("\n") }
        port = Int(process.output.prefix { $0.isNumber }) ?? 0
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Methods and paths of the requests, in order.
    package var requests: [String] { process.output.split(separator: "\n").dropFirst().map(String.init) }
}
