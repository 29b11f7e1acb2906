import JobSchema
import SlotIPC
import TestSupport
import Testing

/// Keys of S3 that a container or a machine has by its role.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct RoleKeysTests {
    private static let role = "GET /latest/meta-data/iam/security-credentials/the-role"

    /// A policy whose jobs reach the store and nothing beside it.
    private func policy(_ change: (inout S3Settings) -> Void) async throws -> TransferPolicy {
        var policy = try await ObjectStore.shared.policy()
        policy.allowedHosts = [String(try await ObjectStore.shared.endpoint.dropFirst("http://".count))]
        policy.allowedOutputHosts = policy.allowedHosts
        policy.s3.keys = nil
        change(&policy.s3)
        return policy
    }

    private func open(_ url: String, _ child: TransferChild) async throws -> Failure? {
        try await child.tell(.job(.test(url)))
        let failure = try await child.ask(.open).failure
        try await child.endJob()
        return failure
    }

    /// Seconds that the keys hold, seconds between two attempts to renew them, and how often three jobs ask.
    @Test(arguments: [(600, 0.0, 1...1), (200, 3600, 1...1), (200, 0, 3...100), (-60, 3600, 3...100)])
    func `a machine's keys are fetched once, again shortly before they expire, and always once they have`(
        lifetime: Int, pause: Double, expected: ClosedRange<Int>
    ) async throws {
        let server = try await RoleServer(lifetime: lifetime)
        let bucket = "role-\(lifetime)-\(Int(pause))"
        try await ObjectStore.shared.seed(bucket, "a.flac", Origin.content)
        let settings = try await policy {
            $0.instanceEndpoint = server.url
            $0.renewalPause = pause
        }
        try await withTransfer(settings) { child in
            for _ in 0..<3 { #expect(try await open("s3://\(bucket)/a.flac", child) == nil) }
            // A job asks more than once where a slow answer is asked for again.
            let times = server.requests.count { $0 == Self.role }
            #expect(expected.contains(times), "\(server.requests)")
            #expect(server.requests.count == 3 * times)
            // No job comes there itself.
            let failure = try await open(server.url + "/latest/meta-data/", child)
            #expect(failure?.code == .policyDenied)
            #expect(server.requests.count == 3 * times)
        }
    }

    @Test func `a container's keys are requested with its token, which may be replaced`() async throws {
        let server = try await RoleServer(lifetime: 3600)
        let folder = try TemporaryFolder()
        let file = try folder.write("token", text: "an old one\n")
        try await ObjectStore.shared.seed("container", "a.flac", Origin.content)
        let settings = try await policy {
            $0.container = S3RoleSource(url: server.url + "/container", tokenFile: file)
            $0.instanceEndpoint = "http://127.0.0.1:1"
        }
        try await withTransfer(settings) { child in
            let failure = try #require(try await open("s3://container/a.flac", child))
            #expect(failure.code == .sourceDenied && failure.retryable)
            #expect(failure.message.contains("/container' returns none: status 401"), "\(failure)")
        }
        try folder.write("token", text: RoleServer.containerToken + "\n")
        try await withTransfer(settings) { child in
            let failure = try await open("s3://container/a.flac", child)
            #expect(failure == nil)
        }
    }
}
