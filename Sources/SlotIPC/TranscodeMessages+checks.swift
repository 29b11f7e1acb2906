package import JobSchema
package import MediaTypes
import Text

extension Failure {
    /// The maximum size of a message from another process in bytes.
    package static let maxMessageBytes = 1024

    /// Codes that only the worker or the queue reports.
    private static let codesOfWorker: Set<ErrorCode> = [.timeout, .expired, .cancelled]

    /// The validated failure of a transcoder, with its message bounded.
    package func checked() throws(ImplausibleReport) -> Failure {
        guard !Self.codesOfWorker.contains(code) else { throw ImplausibleReport("the error `\(code.rawValue)`") }
        if let retryAfter, !(0...1e6).contains(retryAfter) {
            throw ImplausibleReport("a retry after \(retryAfter) s")
        }
        return bounded
    }

    /// The same failure with its message cut to the maximum size, on one line.
    package var bounded: Failure {
        Failure(
            code, message.bounded(utf8Bytes: Self.maxMessageBytes), retryable: retryable, retryAfter: retryAfter)
    }
}

extension Progress {
    /// The validated progress of a transcoder, with every number bounded.
    package func checked(outputs count: Int) throws(ImplausibleReport) -> Progress {
        guard phase != .waiting, phase != .publishing else {
            throw ImplausibleReport("the phase `\(phase.rawValue)`")
        }
        guard outputs.count <= count else {
            throw ImplausibleReport("the progress of \(outputs.count) outputs of \(count)")
        }
        var result = self
        result.position = Self.bounded(position)
        result.duration = duration.map(Self.bounded)
        result.fraction = fraction.map { Self.bounded($0, 1) }
        result.speed = speed.map(Self.bounded)
        result.eta = eta.map(Self.bounded)
        result.outputs = outputs.map { OutputProgress($0.phase, fraction: Self.bounded($0.fraction, 1)) }
        return result
    }

    private static func bounded(_ value: Double) -> Double { bounded(value, 1e9) }

    private static func bounded(_ value: Double, _ limit: Double) -> Double { max(0, min(value, limit)) }
}
