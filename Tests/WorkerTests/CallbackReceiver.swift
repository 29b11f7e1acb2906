import Foundation
import TestSupport

/// A receiver of callbacks, as somebody would write it in Python: it checks each signature with the one secret that it knows.
///
/// The path says how it behaves: `/ok`, `/<status>`, `/<status>-once` (with `Retry-After: 0`), `/hang-once`, `/hang`, and
/// `/away`, which redirects to `/ok`.
final class CallbackReceiver: Sendable {
    static let secret = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()
    static let otherSecret = "whsec_" + Data((100..<140).map { UInt8($0) }).base64EncodedString()

    let port: Int
    private let child: ChildProcess

    /// A request that it got.
    struct Request: Decodable {
        let path: String
        let id: String
        /// Whether one of the signatures is right, and the time stamp is new.
        let isGenuine: Bool
        let signatures: Int
        let body: String
        let type: String
        let user: String
    }
    init() async throws {
        let child = try await ChildProcess("python3", [Script.path("callback_receiver.py"), Self.secret])
        self.child = child
        try await eventually("the receiver listens") { child.output.hasSuffix("\n") }
        port = Int(child.output.dropLast()) ?? 0
    }

    /// The URL of a behaviour.
    func url(_ behaviour: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)/\(behaviour)" }

    /// What it got so far.
    var requests: [Request] {
        child.output.split(separator: "\n").dropFirst().compactMap {
            try? JSONDecoder().decode(Request.self, from: Data($0.utf8))
        }
    }

    /// What it got at that path, once there are so many.
    func requests(at path: String, count: Int = 1) async throws -> [Request] {
        try await eventually("\(count) callbacks at /\(path)") {
            requests.count { $0.path == "/" + path } >= count
        }
        return requests.filter { $0.path == "/" + path }
    }
}
