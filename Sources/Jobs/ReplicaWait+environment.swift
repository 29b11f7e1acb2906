package import JobSchema
import Lifecycle
package import Redis

extension ReplicaWait {
    /// The setting from `RESPOOL_WAIT_REPLICAS` (at least the fallback) and `RESPOOL_WAIT_TIMEOUT`; `nil` if there is
    /// no replica to wait for.
    package static func fromEnvironment(
        fallback: Int = 0, _ value: (String) -> String? = Environment.value
    ) throws(Failure) -> ReplicaWait? {
        var (replicas, timeout) = (fallback, 1.0)
        if let text = value("RESPOOL_WAIT_REPLICAS") {
            guard let number = Int(text), (0...100).contains(number) else {
                throw Failure(
                    .invalidRequest, "RESPOOL_WAIT_REPLICAS is `\(text)`: it must be a whole number from 0 to 100")
            }
            replicas = max(fallback, number)
        }
        if let text = value("RESPOOL_WAIT_TIMEOUT") {
            guard let number = Double(text), (0.01...60).contains(number) else {
                throw Failure(.invalidRequest, "RESPOOL_WAIT_TIMEOUT is `\(text)`: it must be a number from 0.01 to 60")
            }
            timeout = number
        }
        return replicas == 0 ? nil : ReplicaWait(replicas: replicas, timeout: .seconds(timeout))
    }
}
