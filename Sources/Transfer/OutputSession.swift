import Glibc
import JobSchema
import Lifecycle
import LocalFiles
import MediaTypes
import Requests
import SlotIPC
import Uploads

/// One output of the active job, from the first byte of its files to its publication.
final class OutputSession {
    private let output: TransferJob.Output
    private let job: String
    private let token: String
    private let index: Int
    private let client: HTTPClient
    /// Collects files that are discarded while the transcoder can still write to them.
    private let unsealed: UnsealedFiles
    private var policy: TransferPolicy { client.policy }
    /// Aborted uploads, until the store has confirmed.
    private var leftovers: [RemoteOutput] = []
    /// Why something may be left at the store.
    private(set) var leftBehind: Failure?
    private var isUploadReported = false
    private var staging: Staging?
    private var parts: [String: Part] = [:]
    /// Whether the main file is complete. After that, no further file of the output may be started.
    private(set) var isFinished = false
    /// Whether the main file is hashed before it is reported as complete, because nothing more is written to it.
    private var isSealed = false
    /// The hash of a sealed main file that is not reported as complete yet.
    private var summed: SummedFile?
    /// Complete, hashed and staged under its name.
    private(set) var isStaged = false
    private(set) var isPublished = false
    /// The number of folders created for the output.
    private var madeFolders = 0
    /// The failure of the output.
    private var failure: Failure?
    var hasFailed: Bool { failure != nil }

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
        unsealed: UnsealedFiles
    ) {
        self.output = output
        self.job = job
        self.token = token
        self.index = index
        self.client = client
        self.unsealed = unsealed
    }

    deinit { discard() }

    private var mainFile: SealableFile? {
        switch staging {
        case .some(let staging): staging.file
        case nil: nil
        }
    }

    private var openFiles: [SealableFile] { ([mainFile].compactMap(\.self) + parts.values.map(\.file)) }

    /// The number of the output's files that the transcoder may write to.
    var writableFiles: Int { openFiles.count { $0.isHandedOut && !$0.isSealed } }

    /// Bytes of the main file and all parts so far.
    var bytes: Int64 { openFiles.reduce(partsReport.bytes) { $0 + $1.length } }

    var hasParts: Bool { partsReport.count > 0 }

    private var partsReport: PartsReport {
        switch staging {
        case .some(let staging): staging.partsReport
        case nil: PartsReport(count: 0, bytes: 0, files: [])
        }
    }

    /// The location; `nil` for the descriptor that came with the job.
    func location() throws(Failure) -> OutputLocation? {
        output.location == "-" ? nil : try OutputLocation(output, policy: policy)
    }

    /// Whether the output's format has such a part.
    func mayHave(part: String) -> Bool { output.parts.contains { $0.matches(part) } }

    /// The parts whose names are known in advance.
    var singleParts: [String] {
        output.parts.compactMap { pattern -> String? in
            guard case .single(let part) = pattern else { return nil }
            return part
        }
    }

    /// The location of a part, with the URL's secrets.
    func text(ofPart part: String, at location: OutputLocation) throws(Failure) -> String {
        try location.text(ofPart: part, token: token)
    }

    /// The location of the output, without the URL's secrets.
    var locationName: String { (try? location()?.name) ?? "-" }

    var overwrite: Overwrite { output.delivery.overwrite }

    private var remote: RemoteOutput? {
        switch staging {
        case .some(let staging): staging.remote
        case nil: nil
        }
    }

    /// Returns a file to write; fails if there is none.
    func stage(part: String?) throws(Failure) -> Answer {
        if let failure { throw failure }
        guard !isFinished else { throw Failure(.internal, "output \(index) is written after it was completed") }
        guard let part else {
            // A main file that was handed out before is replaced, unless the output has parts.
            if parts.isEmpty, partsReport.count == 0 { discardStaging() }
            try createMain()
            return Answer(message: .stage(name: ""), descriptor: try writer(of: mainFile!))
        }
        guard !isSealed else { throw Failure(.internal, "output \(index) gets a part after it was sealed") }
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

    /// Returns a descriptor to check the main file with. Passes on the hash to compute meanwhile, if the file system shows that
    /// no process can write to the file.
    func seal(_ begin: (FileSum) -> Void) throws(Failure) -> Answer {
        if let failure { throw failure }
        guard let mainFile, mainFile.isHandedOut, !isFinished, !isSealed else {
            throw Failure(.internal, "output \(index) is sealed before it was started, or twice")
        }
        let reader: Descriptor
        do { reader = try mainFile.anotherReader() } catch {
            throw Failure(.internal, "output \(index) cannot be opened for reading: \(error)")
        }
        let bytes = try checkedLength(mainFile, atMost: policy.maxOutputBytes - partsReport.bytes)
        let seal = mainFile.seal()
        isSealed = parts.isEmpty && mainFile.showsWriters && seal != .unknown
        if isSealed {
            if seal == .sealed { staging!.startFlush() }
            begin(FileSum(output: index, part: nil, file: mainFile, bytes: bytes, copy: nil))
        }
        return Answer(message: .sealed, descriptor: reader)
    }

    /// Starts to write the main file to the disk while the transcoder writes it.
    func startWriteBack() {
        guard writableFiles > 0 else { return }
        staging?.startWriteBack()
    }

    /// The main file that was hashed before its output was reported as complete.
    func takeSummed() -> SummedFile? {
        defer { summed = nil }
        return summed
    }

    /// Checks a complete file, and prepares its hash; returns `nil` if that has begun.
    func finish(part: String?) throws(Failure) -> FileSum? {
        if let failure { throw failure }
        guard let mainFile, !isFinished else {
            throw Failure(.internal, "output \(index) is completed before it was started, or twice")
        }
        let rest = policy.maxOutputBytes - partsReport.bytes
        guard let part else {
            // A complete part may still wait for its hash, which is then computed before that of the main file.
            if let open = parts.first(where: { !$0.value.isFinished })?.key {
                throw Failure(.internal, "output \(index) is completed before its part \(open)")
            }
            let bytes = try checkedLength(mainFile, atMost: rest)
            isFinished = true
            return isSealed ? nil : try sum(mainFile, part: nil, bytes: bytes)
        }
        guard let known = parts[part], !known.isFinished else {
            throw Failure(
                .internal, "the part '\(part)' of output \(index) is completed before it was started, or twice")
        }
        let bytes = try checkedLength(known.file, atMost: rest)
        known.isFinished = true
        return try sum(known.file, part: part, bytes: bytes)
    }

    private func sum(_ file: SealableFile, part: String?, bytes: Int64) throws(Failure) -> FileSum {
        guard !file.showsWriters || file.seal() == .unknown else {
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

    /// Stores the hash of a complete file; returns the report once the whole output is complete.
    func keep(_ summed: SummedFile) throws(Failure) -> StagedOutput? {
        let (sum, sha256) = (summed.sum, summed.sha256)
        guard let part = sum.part else {
            guard isFinished else {
                self.summed = summed
                return nil
            }
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

    // MARK: Remote outputs

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? {
        ([remote].compactMap(\.self) + leftovers).compactMap(\.nextDeadline).min()
    }

    /// The number of running requests, and of objects that must still be removed.
    var remaining: Int { ([remote].compactMap(\.self) + leftovers).reduce(0) { $0 + $1.remaining } }

    /// Advances the uploads, and returns a report for the worker if there is one.
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
        guard remote.isUploading, !isUploadReported else { return nil }
        isUploadReported = true
        return .uploading(index, remote.staged)
    }

    // MARK: Publication

    /// Checks, before any output is visible, that the publication can be reverted; returns whether that is known.
    func prepare() throws(Failure) -> Bool {
        guard isStaged else { return true }
        return try staging!.prepare(replacing: overwrite == .replace)
    }

    /// Removes what the output has replaced, once its publication will not be reverted.
    func removeOld() {
        if isPublished { staging?.removeOld() }
    }

    /// Publishes the output once, as far as possible without waiting.
    func publish(
        to target: CInt, unlessReadable interruption: CInt, keeping: KeptFiles
    ) throws(Failure) -> PublishingStep {
        guard isStaged, !isPublished else { return .done(etag: remote?.etag) }
        let step = try staging!.publish(
            to: target, unlessReadable: interruption, keeping: keeping, replacing: overwrite == .replace)
        if case .done = step { isPublished = true }
        return step
    }

    /// Reverts the publication.
    func rollback() {
        guard isStaged else { return }
        staging!.rollback()
        discardStaging()
        isPublished = false
        isStaged = false
    }

    /// Discards the output, and refuses later requests for it with the failure.
    func fail(_ failure: Failure) {
        if self.failure == nil { self.failure = failure }
        discard()
    }

    /// Removes the folders that were created for an unpublished output, once its staged files are removed.
    func removeMadeFolders() {
        guard madeFolders > 0, !isPublished, case .local(let location) = try? location() else { return }
        location.removeEmptyFolders(madeFolders)
    }

    /// Removes all staged files.
    func discard() {
        guard !isPublished else { return }
        for part in parts.values {
            unsealed.discard(part.file)
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
        if let mainFile { unsealed.discard(mainFile) }
        isUploadReported = false
        (isSealed, summed) = (false, nil)
        staging = nil
    }
}
