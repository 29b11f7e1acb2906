import Glibc
import Lifecycle
import SlotProtocol
import Storage

/// Where the job's output waits: beside its destination, or in the spool folder for an open descriptor.
struct Staging: ~Copyable {
    /// The file's descriptor, borrowed.
    let number: CInt
    private var staged: StagedFile?
    private var streamed: StreamedFile?

    init(_ staged: consuming StagedFile) {
        number = staged.number
        self.staged = consume staged
        streamed = nil
    }

    init(_ streamed: consuming StreamedFile) {
        number = streamed.number
        self.streamed = consume streamed
        staged = nil
    }

    /// A descriptor to write with, which may be given away.
    func duplicate() throws(Failure) -> Descriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 5)
        guard copy >= 0 else {
            throw Failure(.internal, "the output's descriptor cannot be duplicated: \(Errno.last)")
        }
        return Descriptor(owning: copy)
    }

    /// Sees that something was written, not too much, and that it is on the disk; answers its length in bytes.
    func checkAndSynchronize(atMost limit: Int64) throws(Failure) -> Int64 {
        var found = stat()
        guard fstat(number, &found) == 0 else {
            throw Failure(.outputFailed, "the staged output is lost: \(Errno.last)")
        }
        guard found.st_size > 0 else { throw Failure(.outputFailed, "the staged output is empty") }
        guard found.st_size <= limit else {
            throw Failure(.tooLarge, "the output has \(found.st_size) bytes, over the limit of \(limit)")
        }
        try staged?.synchronize()
        return Int64(found.st_size)
    }

    /// Gives the complete output the name under which it waits, and answers what to write down about it.
    mutating func output(bytes: Int64, sha256: String) throws(Failure) -> StagedOutput {
        try staged?.giveName()
        return StagedOutput(
            destination: staged?.destinationPath() ?? "-", staged: staged?.stagedPath() ?? "", bytes: bytes,
            sha256: sha256)
    }

    /// Makes the output visible; answers false when copying it was interrupted.
    mutating func publish(to target: CInt, unlessReadable interruption: CInt) throws(Failure) -> Bool {
        if streamed != nil {
            return try streamed!.copy(to: target, unlessReadable: interruption)
        }
        try staged?.publish()
        return true
    }
}
