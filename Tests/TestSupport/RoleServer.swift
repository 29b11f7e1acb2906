import FoundationEssentials

/// A server that gives keys of `ObjectStore` as Amazon's container service and a machine's metadata do.
package final class RoleServer: Sendable {
    package static let containerToken = "container-token"
    private let process: ChildProcess
    package let port: Int

    /// Starts it; the keys end after so many seconds.
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
        try await eventually("the role server says its port", within: .seconds(20)) { process.output.contains("\n") }
        port = Int(process.output.prefix { $0.isNumber }) ?? 0
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Method and path of what was asked for, in its order.
    package var requests: [String] { process.output.split(separator: "\n").dropFirst().map(String.init) }
}
