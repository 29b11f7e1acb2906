import Crypto
import JobSchema
import Lifecycle
import Storage

/// A complete file that is being summed; where it cannot be told that nobody writes to it any more, a copy is made and summed.
final class FileSum {
    let output: Int
    let part: String?
    let file: SealableFile
    let bytes: Int64
    private var copy: FileCopy?
    private var digest: Digest? = .create()
    /// How long whoever said that it is complete may take to close it everywhere.
    private let end = ContinuousClock.now + .seconds(1)

    init(output: Int, part: String?, file: SealableFile, bytes: Int64, copy: consuming FileCopy?) {
        self.output = output
        self.part = part
        self.file = file
        self.bytes = bytes
        self.copy = copy
    }

    /// Whether it can be summed: nobody can write to it any more, or it is copied.
    var isReady: Bool { copy != nil || file.isSealed }

    /// Looks whether somebody can still write to it; answers false if that is so for too long.
    func look(_ now: ContinuousClock.Instant) -> Bool { isReady || file.seal() == .sealed || now < end }

    /// Sums some more; answers the SHA-256 at the end, once.
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
            throw Failure(.outputFailed, "the staged output changed while it was summed")
        }
        return digest.finish()
    }

    /// The copy, which takes the place of what was summed.
    func takeCopy() -> FileCopy? { copy.take() }
}
