import TestSupport
import Testing

/// An HTTP server whose sources come slowly, so that a conversion takes as long as a test needs it to, and no processor.
///
/// `/slow` gives ten minutes of silence at about twice their speed; `/slow-once?<name>` does so the first time that it is
/// asked, and a second of silence at once from then on, which `/quick` always does. `/held` gives five minutes of silence,
/// slowly until ``release()``. `/drip` gives a byte a second, `/missing` nothing, and `/busy` only
/// from an hour later on.
final class SlowServer: Sendable {
    let url: String
    private let child: ChildProcess
    init() async throws {
        child = try await ChildProcess("python3", [Script.path("slow_server.py")])
        let child = child
        try await eventually("the slow server listens") { child.output.hasSuffix("\n") }
        url = "http://127.0.0.1:\(child.output.dropLast())"
    }

    /// Gives the rest of the sources that are held at once.
    func release() async throws {
        let outcome = try await ChildProcess.run("curl", ["-sS", "\(url)/release"])
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    /// The paths that were asked for, in their order.
    var requests: [String] { child.output.split(separator: "\n").dropFirst().map(String.init) }
}
