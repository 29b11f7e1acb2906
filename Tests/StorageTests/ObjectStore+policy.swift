import SlotIPC
import TestSupport

extension ObjectStore {
    /// A policy by which the store is reached.
    func policy() async throws -> TransferPolicy {
        var policy = TransferPolicy()
        policy.allowedHosts = ["127.0.0.1"]
        policy.allowedOutputHosts = ["127.0.0.1"]
        policy.s3.keys = S3Keys(identifier: Self.keys.identifier, secret: Self.keys.secret)
        policy.s3.region = "eu-central-1"
        policy.s3.endpoint = try await endpoint
        return policy
    }
}
