import CLibav
import Lifecycle
import MediaTypes

/// Holds a FLAC source's samples against the MD5 that the file declares for them, on a thread of its own.
///
/// MD5 takes a third of the time that decoding does.
final class SourceChecksum {
    private let queue = BoundedQueue<SharedFrame>()
    private let found = Monitor<Result<[UInt8], MediaError>?>(nil)
    private let declared: [UInt8]
    private let samples: Int64

    /// Begins, unless the source declares no MD5 or not all of it is wanted.
    init?(_ reader: borrowing AssetReader) {
        guard let header = reader.flacHeader, let samples = header.samples, let declared = header.md5,
            reader.first == 0, reader.decodedFrom == 0, reader.end.map({ $0 >= samples }) ?? true
        else { return nil }
        let format = header.bits <= 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
        guard reader.shape.format == format else { return nil }
        self.declared = declared
        self.samples = samples
        let packing = SamplePacking(channels: reader.shape.channels, bits: header.bits)
        startThread { [queue, found] in
            do throws(MediaError) {
                let hash = try MD5Hash()
                var bytes: [UInt8] = []
                while true {
                    switch queue.take() {
                    case .elements(let frames):
                        for frame in frames { packing.bytes(of: frame.frame, room: &bytes) { hash.update($0) } }
                    case .end: return found.change { $0 = .success(hash.finish()) }
                    case .broken: return
                    }
                }
            } catch {
                queue.giveUp()
                found.change { $0 = .failure(error) }
            }
        }
    }

    deinit { queue.giveUp() }

    func append(_ frame: SharedFrame) { _ = queue.append(frame, bytes: frame.bytes) }

    /// Compares, once the source was read to its end; fails or warns if there is another MD5, unless samples are known to be lost.
    func judge(_ reader: borrowing AssetReader, _ policy: DamagePolicy) throws(MediaError) -> Warning? {
        guard reader.position == samples, reader.damage == .none else { return nil }
        queue.complete()
        guard try found.wait(for: { $0 }).get() != declared else { return nil }
        let sentence = "the decoded samples do not have the MD5 that the file declares"
        if policy == .accept { return Warning("md5_mismatch", sentence) }
        throw MediaError(.corruptMedia, "decode the audio", "\(sentence); `damage: accept` would take them as they are")
    }
}

/// How FLAC lays samples out for its MD5: interleaved, little-endian, in whole bytes.
private struct SamplePacking {
    let channels: Int
    let bits: Int

    /// Gives a frame's samples, which libav has shifted up to 16 or 32 bits.
    func bytes(of frame: borrowing Frame, room: inout [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
        let count = frame.samples * channels
        let samples = UnsafeRawBufferPointer(start: frame.planes[0], count: count * (bits <= 16 ? 2 : 4))
        if bits == 16 || bits == 32 { return body(samples) }
        let width = (bits + 7) / 8
        // Each sample is stored as four bytes, of which the next one covers what is too much.
        if room.count < count * width + 4 { room = [UInt8](repeating: 0, count: count * width + 4) }
        room.withUnsafeMutableBytes { room in
            if bits < 16 {
                pack(samples.bindMemory(to: Int16.self), width, shift: Int16(16 - bits), into: room)
            } else {
                pack(samples.bindMemory(to: Int32.self), width, shift: Int32(32 - bits), into: room)
            }
            body(UnsafeRawBufferPointer(rebasing: room[..<(count * width)]))
        }
    }

    private func pack<Sample: FixedWidthInteger>(
        _ samples: UnsafeBufferPointer<Sample>, _ width: Int, shift: Sample, into room: UnsafeMutableRawBufferPointer
    ) {
        var place = 0
        for sample in samples {
            let value = Int32(truncatingIfNeeded: sample >> shift).littleEndian
            room.storeBytes(of: value, toByteOffset: place, as: Int32.self)
            place += width
        }
    }
}
