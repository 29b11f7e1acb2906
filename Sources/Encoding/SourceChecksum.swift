package import Bytes
import CLibav
package import Decoding
import Demuxing
package import Encoders
import Libav
import Lifecycle
package import MediaTypes
import Text

/// Verifies the MD5 that a file declares for its samples, on a separate thread.
///
/// MD5 takes a third of the time of decoding.
package final class SourceChecksum {
    private let queue = BoundedQueue<[SharedFrame]>()
    /// Frames that are not in the queue yet, because to wake the thread for each of them takes longer than its MD5.
    private var batch: [SharedFrame] = []
    private var batchBytes = 0
    private let found = Monitor<Result<[UInt8], MediaError>?>(nil)
    private let declared: DeclaredSum
    /// The MD5 in hexadecimal, if the samples match it; otherwise `nil`.
    package private(set) var verified: String?

    /// Starts, unless the source declares no MD5 or only a part of it is read. Throws if the system has no thread.
    package init?(_ reader: borrowing AssetReader) throws(MediaError) {
        guard let declared = reader.declaredSum, reader.first == 0, reader.decodedFrom == 0,
            reader.end.map({ $0 >= declared.samples }) ?? true, declared.formats.contains(reader.shape.format)
        else { return nil }
        self.declared = declared
        let packing = SamplePacking(
            channels: reader.shape.channels, isPlanar: reader.shape.isPlanar && reader.shape.channels > 1,
            bits: declared.bits, isUnsigned: declared.isUnsigned)
        let isStarted = startThreadWithinSecond { [queue, found] in
            do throws(MediaError) {
                let hash = try MD5Hash()
                var bytes: [UInt8] = []
                while true {
                    switch queue.take() {
                    case .elements(let batches):
                        for frame in batches.joined() {
                            packing.bytes(of: frame.frame, room: &bytes) { hash.update($0) }
                        }
                    case .end: return found.change { $0 = .success(hash.finish()) }
                    case .broken: return
                    }
                }
            } catch {
                queue.abort()
                found.change { $0 = .failure(error) }
            }
        }
        guard isStarted else { throw .noThread("verify the MD5") }
    }

    deinit { queue.abort() }

    /// Takes the next samples of the source.
    package func append(_ frame: SharedFrame) {
        batch.append(frame)
        batchBytes += frame.bytes
        if batchBytes >= Self.batchSize { sendBatch() }
    }

    private static let batchSize = 256 << 10

    private func sendBatch() {
        _ = queue.append(batch, bytes: batchBytes)
        (batch, batchBytes) = ([], 0)
    }

    /// The result of checking copied packets.
    struct Finding {
        /// Whether the samples match the declared MD5, or there is no evidence against it.
        var areDeclared = true
        /// Damage of the packets and warnings about it.
        var damage = Damage.none
        var warnings: [Warning] = []
    }

    /// Decodes a source whose packets are copied. Throws if decoding or `judge` does.
    static func check(
        _ source: any ByteSource, _ settings: SourceSettings, stop: CancellationFlag
    ) throws(MediaError) -> Finding {
        var reader = try AssetReader.open(source, settings, stop: stop)
        guard let checksum = try SourceChecksum(reader) else { return Finding() }
        let frame = try Frame()
        while try reader.next(into: frame) { checksum.append(try SharedFrame(frame)) }
        let mismatch = try checksum.judge(reader, settings.damage)
        guard checksum.verified == nil else { return Finding() }
        let ofContainer = reader.containerWarnings
        return Finding(
            areDeclared: false, damage: reader.damage,
            warnings: reader.warnings.filter { !ofContainer.contains($0) } + (mismatch.map { [$0] } ?? []))
    }

    /// Compares the MD5 once the source was read to its end. Throws or returns a warning if it differs, unless samples are
    /// known to be lost.
    package func judge(_ reader: borrowing AssetReader, _ policy: DamagePolicy) throws(MediaError) -> Warning? {
        // Extra frames are as wrong as different ones. Missing frames are detected elsewhere.
        guard reader.position >= declared.samples, reader.damage == .none else { return nil }
        sendBatch()
        queue.complete()
        guard try found.wait(for: { $0 }).get() != declared.md5 else {
            verified = declared.md5.hexadecimal
            return nil
        }
        let sentence = "the MD5 of the decoded samples differs from the file's"
        if policy == .accept { return Warning(.md5Mismatch, sentence) }
        throw MediaError(.corruptMedia, "decode the audio", "\(sentence); set `damage` to `accept` to keep them")
    }
}
