import JobSchema
import Requests
import Uploads

/// The output that each location of a job belongs to. Prevents a file of one output from overwriting a file of another.
struct LocationClaims {
    private struct Owner {
        let output: Int
        let isPart: Bool
        let mayShare: Bool
    }

    private var owners: [String: Owner] = [:]
    /// The parts that have been started. Each may be started only once.
    private var begun: Set<String> = []

    /// Checks the locations of all outputs, and of the parts whose names are known in advance.
    init(_ outputs: [OutputSession], _ client: HTTPClient, hasTarget: Bool) throws(Failure) {
        for (index, output) in outputs.enumerated() {
            let location: OutputLocation?
            do throws(Failure) {
                location = try output.location()
                try location?.check(client)
            } catch { throw outputs.count > 1 ? error.of(output: index) : error }
            guard let destination = location else {
                guard hasTarget else {
                    throw Failure(
                        .outputDenied, "the output '-' requires an open pipe, which a queued job does not have")
                }
                guard outputs.count == 1 else {
                    throw Failure(.outputDenied, "the output '-' requires a single output, and the job has several")
                }
                continue
            }
            try claim(destination.text, Owner(output: index, isPart: false, mayShare: false), destination.name)
        }
        for (index, output) in outputs.enumerated() {
            guard let location = try output.location() else { continue }
            for part in output.singleParts {
                // Chapters of one source are identical for all outputs, so the outputs may share the file.
                let mayShare = output.overwrite == .replace && !part.contains("{token}")
                let owner = Owner(output: index, isPart: true, mayShare: mayShare)
                try claim(try output.text(ofPart: part, at: location), owner, "the '\(part)' beside '\(location.name)'")
            }
        }
    }

    private mutating func claim(_ text: String, _ owner: Owner, _ name: String) throws(Failure) {
        if let other = owners[text], !(other.mayShare && owner.mayShare) {
            throw Failure(
                .outputDenied,
                "the outputs \(other.output) and \(owner.output) have the same location '\(name)': give each its own")
        }
        owners[text] = owner
    }

    /// Registers a new part. Fails if the part was started before, or its location belongs to an output.
    mutating func begin(_ part: String, of index: Int, _ output: OutputSession) throws(Failure) {
        if let location = try output.location(), let owner = owners[try output.text(ofPart: part, at: location)],
            !owner.isPart
        {
            throw Failure(
                .outputDenied,
                "the outputs \(owner.output) and \(index) have the same location, "
                    + "the '\(part)' beside '\(location.name)': give each its own"
            )
        }
        guard begun.insert("\(index) \(part)").inserted else {
            throw Failure(.internal, "the part '\(part)' of output \(index) is written twice")
        }
    }
}
