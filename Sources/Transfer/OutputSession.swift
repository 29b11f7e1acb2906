import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Storage

/// One output of the job that is being served: its files from the first byte until they are visible.
final class OutputSession {
    private let output: TransferJob.Output
    private let job: String
    private let token: String
    private let index: Int
    private let client: HTTPClient
    /// Where files go that are given up while they can be written to.
    private let released: ReleasedFiles
    private var policy: TransferPolicy { client.policy }
    /// What is given up at a store, until that is done.
    private var leftovers: [RemoteOutput] = []
    /// Why something of that may be left there.
    private(set) var leftBehind: Failure?
    private var isUploadTold = false
    private var staging: Staging?
    private var parts: [String: Part] = [:]
    /// Whether the main file is complete, after which nothing of it is begun.
    private(set) var isFinished = false
    /// Complete, summed and named.
    private(set) var isStaged = false
    private(set) var isPublished = false
    /// How many folders were made for it.
    private var madeFolders = 0
    /// Why there will be no such output.
    private var failure: Failure?

    private final class Part {
        private(set) var file: SealableFile
        var progress: PartInProgress?
        var isFinished = false

        init(_ progress: consuming PartInProgress) {
            file = progress.file
            self.progress = consume progress
        }
    }

    init(
        _ output: TransferJob.Output, job: String, token: String, index: Int, client: HTTPClient,
        released: ReleasedFiles
    ) {
        self.output = output
        self.job = job
        self.token = token
        self.index = index
        self.client = client
        self.released = released
    }

    deinit { discard() }

    private var mainFile: SealableFile? {
        switch staging {
        case .some(let staging): staging.file
        case nil: nil
        }
    }

    private var openFiles: [SealableFile] { ([mainFile].compactMap(\.self) + parts.values.map(\.file)) }

    /// How many files of it the other child may write to.
    var writableFiles: Int { openFiles.count { $0.isHandedOut && !$0.isSealed } }

    /// Bytes of all that it consists of so far.
    var bytes: Int64 { openFiles.reduce(partsReport.bytes) { $0 + $1.length } }

    private var partsReport: PartsReport {
        switch staging {
        case .some(let staging): staging.partsReport
        case nil: PartsReport(count: 0, bytes: 0, files: [])
        }
    }

    /// Where it goes; nothing for the descriptor that came with the job.
    func location() throws(Failure) -> OutputLocation? {
        output.location == "-" ? nil : try OutputLocation(output, policy: policy)
    }

    /// Whether its format has such a file beside the main one.
    func mayHave(part: String) -> Bool { output.parts.contains { $0.matches(part) } }

    /// Its parts whose names are known beforehand.
    var singleParts: [String] {
        output.parts.compactMap { pattern -> String? in
            guard case .single(let part) = pattern else { return nil }
            return part
        }
    }

    /// The location of a part, with what may be secret in it.
    func text(ofPart part: String, at location: OutputLocation) throws(Failure) -> String {
        try location.text(ofPart: part, token: token)
    }

    /// The same as it is shown.
    var locationName: String { (try? location()?.name) ?? "-" }

    var overwrite: Overwrite { output.delivery.overwrite }

    private var remote: RemoteOutput? {
        switch staging {
        case .some(let staging): staging.remote
        case nil: nil
        }
    }

    /// Answers a file to write, or why there is none.
    func stage(part: String?) throws(Failure) -> Answer {
        if let failure { throw failure }
        guard !isFinished else { throw Failure(.internal, "output \(index) is complete, and is written again") }
        guard let part else {
            // A file that was given out before is forgotten, but for one that has parts.
            if parts.isEmpty, partsReport.count == 0 { discardStaging() }
            try createMain()
            return Answer(message: .stage(name: ""), descriptor: try writer(of: mainFile!))
        }
        guard bytes <= policy.maxOutputBytes else {
            throw Failure(.tooLarge, "the output has \(bytes) bytes, over the limit of \(policy.maxOutputBytes)")
        }
        if staging == nil { try createMain() }
        let file = try staging!.createPart(part, token: token)
        let name = file.name
        let began = Part(file)
        parts[part] = began
        return Answer(message: .stage(name: name), descriptor: try writer(of: began.file))
    }

    private func writer(of file: SealableFile) throws(Failure) -> Descriptor {
        guard !file.isHandedOut else { throw Failure(.internal, "a file of output \(index) is written twice") }
        do { return try file.writer() } catch {
            throw Failure(.internal, "a file of output \(index) cannot be opened for writing: \(error)")
        }
    }

    private func createMain() throws(Failure) {
        guard staging == nil else { return }
        switch try location() {
        case .local(let destination):
            staging = Staging(
                try StagedFile.create(
                    for: destination, job: job, token: token, output: index, countingFolders: &madeFolders))
        case .remote(let location):
            staging = Staging(try RemoteOutput(location, job: job, replacing: overwrite == .replace, client: client))
        case nil: staging = Staging(try StreamedFile.create(policy: policy))
        }
    }

    /// Checks a file that is complete, and answers how to sum it.
    func finish(part: String?) throws(Failure) -> FileSum {
        if let failure { throw failure }
        guard let mainFile, !isFinished else {
            throw Failure(.internal, "output \(index) is complete before it was begun, or once more")
        }
        let rest = policy.maxOutputBytes - partsReport.bytes
        guard let part else {
            guard parts.isEmpty else {
                throw Failure(.internal, "output \(index) is complete before its part \(parts.keys.first!) is")
            }
            let bytes = try checkedLength(mainFile, atMost: rest)
            isFinished = true
            return try sum(mainFile, part: nil, bytes: bytes)
        }
        guard let known = parts[part], !known.isFinished else {
            throw Failure(
                .internal, "the part '\(part)' of output \(index) is complete before it was begun, or once more")
        }
        let bytes = try checkedLength(known.file, atMost: rest)
        known.isFinished = true
        return try sum(known.file, part: part, bytes: bytes)
    }

    private func sum(_ file: SealableFile, part: String?, bytes: Int64) throws(Failure) -> FileSum {
        guard file.seal() == .unknown else {
            return FileSum(output: index, part: part, file: file, bytes: bytes, copy: nil)
        }
        let copy: FileCopy
        if let part, let known = parts[part] {
            copy = try staging!.createCopy(of: known.progress, policy: policy)
        } else {
            copy = try staging!.createCopy(of: nil, policy: policy)
        }
        return FileSum(output: index, part: part, file: file, bytes: bytes, copy: copy)
    }

    /// Takes the sum of a complete file; answers what to report once the whole output is complete.
    func keep(_ sum: FileSum, sha256: String) throws(Failure) -> StagedOutput? {
        guard let part = sum.part else {
            if let copy = sum.takeCopy() { try staging!.replace(by: copy) }
            try staging!.synchronize()
            if let remote {
                remote.begin(bytes: sum.bytes, sha256: sha256)
                return nil
            }
            let staged = try staging!.output(bytes: sum.bytes, sha256: sha256)
            isStaged = true
            return staged
        }
        if var progress = parts.removeValue(forKey: part)?.progress.take() {
            if let copy = sum.takeCopy() { try staging!.replace(&progress, by: copy) }
            try staging!.keep(progress, bytes: sum.bytes, sha256: sha256)
        }
        return nil
    }

    // MARK: What is at a store

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? {
        ([remote].compactMap(\.self) + leftovers).compactMap(\.nextDeadline).min()
    }

    /// How many things of it are under way to a store, or must still be taken back.
    var remaining: Int { ([remote].compactMap(\.self) + leftovers).reduce(0) { $0 + $1.remaining } }

    /// Moves on what is under way, and answers what to tell of it.
    func tick(_ now: ContinuousClock.Instant) throws(Failure) -> TransferReport? {
        for leftover in leftovers {
            leftover.tick(now)
            if leftover.remaining == 0, leftBehind == nil { leftBehind = leftover.leftBehind }
        }
        leftovers.removeAll { $0.remaining == 0 }
        guard let remote else { return nil }
        remote.tick(now)
        guard !isStaged else { return nil }
        if let failure = remote.failure { throw failure }
        if remote.isReady {
            isStaged = true
            let staged = remote.staged
            return .staged(index, try staging!.output(bytes: staged.bytes, sha256: staged.sha256))
        }
        guard remote.isUploading, !isUploadTold else { return nil }
        isUploadTold = true
        return .uploading(index, remote.staged)
    }

    // MARK: The end

    /// Makes the output visible, once, as far as that goes without waiting.
    func publish(
        to target: CInt, unlessReadable interruption: CInt, keepingOld: Bool
    ) throws(Failure) -> PublishingStep {
        guard isStaged, !isPublished else { return .done(etag: remote?.etag) }
        let step = try staging!.publish(
            to: target, unlessReadable: interruption, keepingOld: keepingOld, replacing: overwrite == .replace)
        if case .done = step { isPublished = true }
        return step
    }

    /// Takes back what was published.
    func rollback() {
        guard isStaged else { return }
        staging!.rollback()
        discardStaging()
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
        guard madeFolders > 0, !isPublished, case .local(let location) = try? location() else { return }
        location.removeEmptyFolders(madeFolders)
    }

    /// Removes all that is staged.
    func discard() {
        guard !isPublished else { return }
        for part in parts.values {
            released.discard(part.file)
            if let progress = part.progress.take() { staging?.discard(progress) }
        }
        parts = [:]
        discardStaging()
        isStaged = false
    }

    private func discardStaging() {
        if let remote {
            remote.abort()
            leftovers.append(remote)
        }
        if let mainFile { released.discard(mainFile) }
        isUploadTold = false
        staging = nil
    }
}
