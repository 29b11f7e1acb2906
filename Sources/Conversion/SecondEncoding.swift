import Bytes
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Encodes an output again at a lower level, if the decoded peaks exceeded the ceiling.
enum SecondEncoding {
    /// Encodes output `index` again, lowered by `lowering` dB. `warnings` are those from the first time the source was read.
    static func run(
        _ writers: RenditionWriters, _ index: Int, lowering: Double, warnings: [Warning]
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
        // There is no third encoding. The warning reports what still exceeds the ceiling.
        result.excess = nil
        return result
    }
}
