import Crypto
import Lifecycle

/// Asks a server of the HTTP API whether it is ready.
enum ReadinessProbe {
    /// Whether `/readyz` has status 200.
    static func isReady(_ address: ListenAddress, hasTLS: Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            startThread {
                continuation.resume(returning: (try? address.status(of: "/readyz", hasTLS: hasTLS)) == 200)
            }
        }
    }
}
