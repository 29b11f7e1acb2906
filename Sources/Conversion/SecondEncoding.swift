import Bytes
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// Makes an output once more at a lower level, where the decoder's peaks went over the ceiling.
enum SecondEncoding {
    /// The output of that number, lowered by so many decibels; the warnings of the source are those of the first reading.
    static func run(
        _ writers: RenditionWriters, _ index: Int, lowering: Double, warnings: [Warning]
    ) throws(MediaError) -> ConversionResult {
        var reader = try AssetReader.open(writers.source, writers.plan.source, stop: writers.stop)
        let writer = try writers.openFile(index, reader, lowering: lowering)
        let frame = try Frame()
        while try reader.next(into: frame) { try writer.append(frame) }
        var result = try writer.finish()
        result.damage.seconds += reader.damage.seconds
        result.damage.events += reader.damage.events
        result.warnings = warnings + result.warnings
        // Once is enough: what is still over is told.
        result.excess = nil
        return result
    }
}
