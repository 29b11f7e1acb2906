import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Storage

/// Where an output waits: beside its destination, or in the spool folder for an open descriptor.
struct Staging: ~Copyable {
    /// The main file.
    private(set) var file: SealableFile
    private var staged: StagedFile?
    private var streamed: StreamedFile?
    /// For an output that goes to a store.
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

    /// What is reported of the finished parts.
    var partsReport: PartsReport { report }

    /// Writes what is complete to the disk.
    func synchronize() throws(Failure) { try staged?.synchronize() }

    // MARK: Copies

    /// Begins a copy of a part, or of the main file.
    mutating func createCopy(
        of part: borrowing PartInProgress?, policy: TransferPolicy
    ) throws(Failure) -> FileCopy {
        guard staged != nil else { return try spooledCopy(policy: policy) }
        return try staged!.createCopy(of: part)
    }

    /// Has the copy in the main file's place.
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

    /// Has the copy in the part's place.
    mutating func replace(_ part: inout PartInProgress, by copy: consuming FileCopy) throws(Failure) {
        let former = part.file
        if staged != nil { try staged!.replace(&part, by: copy) } else { part.replace(by: copy) }
        former.empty()
    }

    // MARK: Parts

    /// Begins a file beside the main one.
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

    /// Takes a complete part.
    mutating func keep(_ part: consuming PartInProgress, bytes: Int64, sha256: String) throws(Failure) {
        let file = PartsReport.File(name: part.name, bytes: bytes, sha256: sha256)
        if let remote { try remote.keep(part, bytes: bytes, sha256: sha256) } else { try staged?.keep(part) }
        report.count += 1
        report.bytes += bytes
        if report.count <= PartsReport.maxFiles { report.files.append(file) } else { report.files = [] }
    }

    /// Lets go of a part that is not complete.
    func discard(_ part: consuming PartInProgress) { staged?.discard(part) }

    private static let maxParts = 100_000

    // MARK: The end

    /// Gives the complete output the name under which it waits, and answers what to write down about it.
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

    /// Makes the output visible, as far as that goes without waiting.
    mutating func publish(
        to target: CInt, unlessReadable interruption: CInt, keepingOld: Bool, replacing: Bool
    ) throws(Failure) -> PublishingStep {
        if streamed != nil {
            switch try streamed!.copy(to: target, unlessReadable: interruption, for: WriteLimits.interval) {
            case .complete: return .done(etag: nil)
            case .interrupted: return .interrupted
            case .underWay: return .underWay
            }
        }
        if let remote { return try remote.publish() ? .done(etag: remote.etag) : .underWay }
        try staged?.publish(keepingOld: keepingOld, replacing: replacing)
        return .done(etag: nil)
    }

    /// Takes back what was published.
    mutating func rollback() {
        staged?.rollback()
        remote?.rollback()
    }
}

/// How far an output is on its way to being visible.
enum PublishingStep {
    case underWay
    /// The worker has an order that comes first.
    case interrupted
    case done(etag: String?)
}

/// What every file must be before it is summed.
func checkedLength(_ file: SealableFile, atMost limit: Int64) throws(Failure) -> Int64 {
    let length = file.length
    guard length > 0 else { throw Failure(.outputFailed, "the staged output is empty") }
    guard length <= limit else {
        throw Failure(.tooLarge, "the output has \(length) bytes, over the limit of \(limit)")
    }
    return length
}
