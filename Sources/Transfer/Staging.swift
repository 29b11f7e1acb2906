import Glibc
import JobSchema
import Lifecycle
import LocalFiles
import SlotIPC
import Uploads

/// A staged output: in the folder of its destination, or in the spool folder for a remote output or an open descriptor.
struct Staging: ~Copyable {
    /// The main file.
    private(set) var file: SealableFile
    private var staged: StagedFile?
    private var streamed: StreamedFile?
    /// Set for a remote output.
    let remote: RemoteOutput?
    private var report = PartsReport(count: 0, bytes: 0, files: [])

    init(_ staged: consuming StagedFile) {
        file = staged.file
        self.staged = consume staged
        streamed = nil
        remote = nil
    }

    init(_ streamed: consuming StreamedFile) {
        file = streamed.file
        self.streamed = consume streamed
        staged = nil
        remote = nil
    }

    init(_ remote: RemoteOutput) {
        file = remote.file
        self.remote = remote
        staged = nil
        streamed = nil
    }

    /// The report of the finished parts.
    var partsReport: PartsReport { report }

    /// Starts to write the file to the disk while the transcoder writes it.
    func startWriteBack() { staged?.startWriteBack() }

    /// Starts to flush the complete file to the disk.
    mutating func startFlush() { staged?.startFlush() }

    /// Flushes the complete file to the disk.
    func synchronize() throws(Failure) { try staged?.synchronize() }

    // MARK: Copies

    /// Begins a copy of a part, or of the main file if `part` is `nil`.
    mutating func createCopy(
        of part: borrowing PartInProgress?, policy: TransferPolicy
    ) throws(Failure) -> FileCopy {
        guard staged != nil else { return try spooledCopy(policy: policy) }
        return try staged!.createCopy(of: part)
    }

    /// Replaces the main file by the copy.
    mutating func replace(by copy: consuming FileCopy) throws(Failure) {
        let former = file
        if staged != nil {
            file = try staged!.replace(by: copy)
        } else if let remote {
            file = remote.replace(by: copy)
        } else {
            file = streamed!.replace(by: copy)
        }
        former.empty()
    }

    /// Replaces the part by the copy.
    mutating func replace(_ part: inout PartInProgress, by copy: consuming FileCopy) throws(Failure) {
        let former = part.file
        if staged != nil { try staged!.replace(&part, by: copy) } else { part.replace(by: copy) }
        former.empty()
    }

    // MARK: Parts

    /// Begins a part of the output.
    mutating func createPart(_ suffix: String, token: String) throws(Failure) -> PartInProgress {
        guard streamed == nil else {
            throw Failure(.invalidRequest, "the output consists of several files: give a path instead of '-'")
        }
        guard report.count < Self.maxParts else {
            throw Failure(.tooLarge, "the output has more than \(Self.maxParts) files")
        }
        if let remote { return try remote.createPart(suffix, token: token) }
        return try staged!.createPart(suffix, token: token)
    }

    /// Takes over a complete part.
    mutating func keep(_ part: consuming PartInProgress, bytes: Int64, sha256: String) throws(Failure) {
        let file = PartsReport.File(name: part.name, bytes: bytes, sha256: sha256)
        if let remote { try remote.keep(part, bytes: bytes, sha256: sha256) } else { try staged?.keep(part) }
        report.count += 1
        report.bytes += bytes
        if report.count <= PartsReport.maxFiles { report.files.append(file) } else { report.files = [] }
    }

    /// Discards an incomplete part.
    func discard(_ part: consuming PartInProgress) { staged?.discard(part) }

    private static let maxParts = 100_000

    // MARK: Publication

    /// Gives the complete output its staged name, and returns its entry for the commit record.
    mutating func output(bytes: Int64, sha256: String) throws(Failure) -> StagedOutput {
        if let remote {
            var output = remote.staged
            output.partsReport = report.count > 0 ? report : nil
            return output
        }
        guard staged != nil else { return StagedOutput(destination: "-", staged: "", bytes: bytes, sha256: sha256) }
        try staged!.giveName()
        var output = StagedOutput(
            destination: staged!.destinationPath(), staged: staged!.stagedPath(), bytes: bytes, sha256: sha256)
        output.identity = staged!.identity()
        output.parts = staged!.partNames()
        output.partsReport = report.count > 0 ? report : nil
        return output
    }

    /// Checks, before any output is visible, that the publication can be reverted; returns whether that is known.
    func prepare(replacing: Bool) throws(Failure) -> Bool {
        if let remote { return try remote.prepare() }
        try staged?.checkPublication(replacing: replacing)
        return true
    }

    /// Removes what the publication has replaced, once it will not be reverted.
    func removeOld() { remote?.removeOld() }

    /// Publishes the output as far as possible without waiting.
    mutating func publish(
        to target: CInt, unlessReadable interruption: CInt, keeping: KeptFiles, replacing: Bool
    ) throws(Failure) -> PublishingStep {
        if streamed != nil {
            switch try streamed!.copy(to: target, unlessReadable: interruption, for: WriteLimits.interval) {
            case .complete: return .done(etag: nil)
            case .interrupted: return .interrupted
            case .underWay: return .underWay
            }
        }
        if let remote { return try remote.publish() ? .done(etag: remote.etag) : .underWay }
        try staged?.publish(keeping: keeping, replacing: replacing)
        return .done(etag: nil)
    }

    /// Reverts the publication.
    mutating func rollback() {
        staged?.rollback()
        remote?.rollback()
    }
}

/// The progress of a publication.
enum PublishingStep {
    case underWay
    /// The worker has sent an order, which must be processed first.
    case interrupted
    case done(etag: String?)
}

/// The length of a file, which must not be empty nor over the limit.
func checkedLength(_ file: SealableFile, atMost limit: Int64) throws(Failure) -> Int64 {
    let length = file.length
    guard length > 0 else { throw Failure(.outputFailed, "the staged output is empty") }
    guard length <= limit else {
        throw Failure(.tooLarge, "the output has \(length) bytes, over the limit of \(limit)")
    }
    return length
}
