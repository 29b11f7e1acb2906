import Bytes
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Encodes an output again at a lower level, if the decoded peaks exceeded the ceiling.
enum LoweredEncoding {
    /// The most times that an output is encoded again.
    private static let maxRepeats = 2
    /// The decoded peaks of a codec depend on the level. This many dB more leave room for that.
    private static let margin = 0.1

    /// Encodes output `index` again, lower by the `excess` in dB. `warnings` are those from the first time the source was read.
    static func run(
        _ writers: RenditionWriters, _ index: Int, excess: Double, warnings: [Warning]
    ) throws(MediaError) -> ConversionResult {
        var lowering = excess + margin
        var result = try encode(writers, index, lowering, warnings)
        for _ in 1..<maxRepeats {
            guard let excess = result.excess else { break }
            lowering += excess + margin
            result = try encode(writers, index, lowering, warnings)
        }
        // The warning reports what still exceeds the ceiling.
        result.excess = nil
        return result
    }

    private static func encode(
        _ writers: RenditionWriters, _ index: Int, _ lowering: Double, _ warnings: [Warning]
    ) throws(MediaError) -> ConversionResult {
        var reader = try AssetReader.open(
            writers.source, writers.plan.source, threads: writers.threads, stop: writers.stop)
        let writer = try writers.openFile(index, reader, lowering: lowering)
        let frame = try Frame()
        while try reader.next(into: frame) { try writer.append(frame) }
        var result = try writer.finish()
        result.damage.seconds += reader.damage.seconds
        result.damage.events += reader.damage.events
        result.warnings = warnings + result.warnings
        return result
    }
}
