import JobSchema
import Storage

/// At which locations something is already, of the outputs that may not replace it.
final class OverwriteCheck {
    private var lookups: [(index: Int, lookup: RemoteLookup)] = []
    /// The outputs whose location is taken, as far as that is known.
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

    /// Whether nothing more will be found.
    var isKnown: Bool { lookups.isEmpty }

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? { isKnown ? .now : lookups.compactMap(\.lookup.nextDeadline).min() }

    /// Moves on what can move.
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
