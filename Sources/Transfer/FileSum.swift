import Crypto
import JobSchema
import Lifecycle
import LocalFiles

/// The SHA-256 of a complete file, while it is computed. If it cannot be determined whether a process can still write to the
/// file, a copy is made and hashed.
final class FileSum {
    let output: Int
    let part: String?
    let file: SealableFile
    let bytes: Int64
    private var copy: FileCopy?
    private var digest: Digest? = .create()
    /// The deadline by which the process that reported the file complete must have closed all its descriptors.
    private let end = ContinuousClock.now + .seconds(1)

    init(output: Int, part: String?, file: SealableFile, bytes: Int64, copy: consuming FileCopy?) {
        self.output = output
        self.part = part
        self.file = file
        self.bytes = bytes
        self.copy = copy
    }

    /// Whether the file can be hashed: no process can write to it, or it is being copied.
    var isReady: Bool { copy != nil || file.isSealed }

    /// Checks whether a process can still write to the file; returns false if that lasts too long.
    func look(_ now: ContinuousClock.Instant) -> Bool { isReady || file.seal() == .sealed || now < end }

    /// Hashes the next bytes; returns the SHA-256 once, at the end.
    func readFurther() throws(Failure) -> String? {
        do throws(Errno) {
            if copy != nil {
                let isMore = try digest!.read(file.number, to: bytes) { (part, offset) throws(Errno) in
                    try copy!.write(part, at: offset)
                }
                if isMore { return nil }
            } else if try digest!.read(file.number) {
                return nil
            }
        } catch { throw .writing("the output", error, otherwise: .outputFailed) }
        let digest = digest.take()!
        guard digest.position == bytes else {
            throw Failure(.outputFailed, "the staged output changed while its checksum was computed")
        }
        return digest.finish()
    }

    /// The copy, which replaces the hashed file.
    func takeCopy() -> FileCopy? { copy.take() }
}

/// A hashed file with its SHA-256.
struct SummedFile {
    let sum: FileSum
    let sha256: String
}
