import Bytes
import CLibav
import Decoding
import Libav
import Lifecycle
import MediaTypes

/// Measures the loudness of a finished file as players decode it.
enum DecodedLoudness {
    /// Decodes and measures an output; `nil` if it is too short for that.
    static func of(
        _ store: any RandomAccessOutput, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) -> Loudness? {
        var reader: AssetReader
        do throws(MediaError) {
            reader = try AssetReader.open(StoredSource(store), SourceSettings(), threads: threads, stop: stop)
        } catch {
            // A file of a frame or two may be too short to be recognized.
            if case .unsupportedFormat = error.reason { return nil }
            throw error
        }
        var shape = reader.shape
        shape.format = AV_SAMPLE_FMT_FLTP
        let converter = try Resampler.open(reader.shape, to: shape)
        let meter = try ParallelLoudness(shape, threads: threads)
        let frame = try Frame()
        let floats = try Frame()
        while try reader.next(into: frame) {
            try converter.convert(frame, into: floats)
            try meter.append(floats)
        }
        return try meter.finish()
    }
}
