import JobSchema
import LocalFiles
import Requests
import Uploads

/// Finds the outputs that may not overwrite, and whose location is already occupied.
final class OverwriteCheck {
    private var lookups: [(index: Int, lookup: RemoteLookup)] = []
    /// The outputs whose location is known to be occupied.
    private(set) var taken: Set<Int> = []

    init(_ outputs: [OutputSession], client: HTTPClient) throws(Failure) {
        for (index, output) in outputs.enumerated() where output.overwrite != .replace {
            switch try output.location() {
            case .local(let destination):
                do throws(Failure) { try destination.checkOverwrite() } catch {
                    guard error.code == .outputExists else { throw error }
                    taken.insert(index)
                }
            case .remote(let location):
                if let lookup = RemoteLookup(location, client: client) { lookups.append((index, lookup)) }
            case nil: break
            }
        }
    }

    /// Whether the check has ended.
    var isKnown: Bool { lookups.isEmpty }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? { isKnown ? .now : lookups.compactMap(\.lookup.nextDeadline).min() }

    /// Advances the requests without waiting.
    func tick(_ now: ContinuousClock.Instant) throws(Failure) {
        var open: [(index: Int, lookup: RemoteLookup)] = []
        for (index, lookup) in lookups {
            switch try lookup.tick(now) {
            case true: taken.insert(index)
            case false: break
            case nil: open.append((index, lookup))
            }
        }
        lookups = open
    }
}
