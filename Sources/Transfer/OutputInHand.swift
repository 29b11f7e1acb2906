import Glibc
import Lifecycle
import SlotProtocol
import Storage

/// One output of the job that is being served: its files from the first byte until they are visible.
final class OutputInHand {
    private let output: TransferJob.Output
    private let job: String
    private let token: String
    private let index: Int
    private let policy: TransferPolicy
    private var staging: Staging?
    private var parts: [String: Part] = [:]
    /// Complete, summed and named.
    private(set) var isStaged = false
    private(set) var isPublished = false
    /// How many folders were made for it.
    private var madeFolders = 0
    /// Why there will be no such output.
    private var failure: Failure?

    private final class Part {
        let number: CInt
        var file: PartInProgress?

        init(_ file: consuming PartInProgress) {
            number = file.number
            self.file = consume file
        }
    }

    init(_ output: TransferJob.Output, job: String, token: String, index: Int, policy: TransferPolicy) {
        self.output = output
        self.job = job
        self.token = token
        self.index = index
        self.policy = policy
    }

    deinit { discard() }

    /// The main file's descriptor, borrowed.
    private var number: CInt {
        switch staging {
        case .some(let staging): staging.number
        case nil: -1
        }
    }

    private var partsReport: PartsReport {
        switch staging {
        case .some(let staging): staging.partsReport
        case nil: PartsReport(count: 0, bytes: 0, files: [])
        }
    }

    /// Where it goes; nothing for the descriptor that came with the job.
    func destination() throws(Failure) -> Destination? {
        output.place == "-" ? nil : try Destination(output.place, defaultName: output.defaultName, policy: policy)
    }

    /// Answers a file to write, or why there is none.
    func stage(part: String?) throws(Failure) -> Answer {
        if let failure { throw failure }
        guard !isStaged else { throw Failure(.internal, "output \(index) is complete, and is written again") }
        guard let part else {
            // A file that was given out before is forgotten, but for one that has parts.
            if parts.isEmpty, partsReport.count == 0 { staging = nil }
            try createMain()
            return Answer(message: .stage(name: ""), descriptor: try duplicated(number))
        }
        if staging == nil { try createMain() }
        let file = try staging!.createPart(part, token: token)
        let name = file.name
        let copy = try duplicated(file.number)
        parts[part] = Part(file)
        return Answer(message: .stage(name: name), descriptor: copy)
    }

    private func createMain() throws(Failure) {
        guard staging == nil else { return }
        guard let destination = try destination() else {
            staging = Staging(try StreamedFile.create(policy: policy))
            return
        }
        staging = Staging(
            try StagedFile.create(
                for: destination, job: job, token: token, output: index, countingFolders: &madeFolders))
    }

    /// Checks a file that is complete, and answers its length and a descriptor to sum it by.
    func finish(part: String?) throws(Failure) -> (number: CInt, bytes: Int64) {
        if let failure { throw failure }
        guard staging != nil else { throw Failure(.internal, "output \(index) is complete before it was begun") }
        guard let part else {
            guard parts.isEmpty else {
                throw Failure(.internal, "output \(index) is complete before its part \(parts.keys.first!) is")
            }
            let bytes = try checkedLength(number, atMost: policy.mostOutputBytes)
            try staging!.synchronize()
            return (number, bytes)
        }
        guard let number = parts[part]?.number else {
            throw Failure(.internal, "the part '\(part)' of output \(index) is complete before it was begun")
        }
        return (number, try checkedLength(number, atMost: policy.mostOutputBytes - partsReport.bytes))
    }

    /// Takes the sum of a complete file; answers what to report once the whole output is complete.
    func keep(part: String?, bytes: Int64, sha256: String) throws(Failure) -> StagedOutput? {
        guard let part else {
            let staged = try staging!.output(bytes: bytes, sha256: sha256)
            isStaged = true
            return staged
        }
        if let file = parts.removeValue(forKey: part)?.file.take() {
            try staging!.keep(file, bytes: bytes, sha256: sha256)
        }
        return nil
    }

    /// Makes the output visible, once; answers false when that was interrupted.
    func publish(to target: CInt, unlessReadable interruption: CInt, keepingOld: Bool) throws(Failure) -> Bool {
        guard isStaged, !isPublished else { return true }
        guard try staging!.publish(to: target, unlessReadable: interruption, keepingOld: keepingOld) else {
            return false
        }
        isPublished = true
        return true
    }

    /// Takes back what was published.
    func withdraw() {
        guard isStaged else { return }
        staging!.withdraw()
        isPublished = false
        isStaged = false
    }

    /// Gives up the output, and refuses what is still asked for it.
    func fail(_ failure: Failure) {
        if self.failure == nil { self.failure = failure }
        discard()
    }

    /// Removes the folders that were made for an output that there is not; once all that is staged in them is gone.
    func removeMadeFolders() {
        guard madeFolders > 0, !isPublished, let place = try? destination() else { return }
        place.removeEmptyFolders(madeFolders)
    }

    /// Removes all that is staged.
    func discard() {
        guard !isPublished else { return }
        for part in parts.values {
            if let file = part.file.take() { staging?.drop(file) }
        }
        parts = [:]
        staging = nil
        isStaged = false
    }
}
