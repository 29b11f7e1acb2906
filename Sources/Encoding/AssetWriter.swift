package import Bytes
import CLibav
package import Decoding
import Filters
package import Libav
import Lifecycle
package import MediaTypes
import Tags

/// Encodes samples into a file with one audio track: append frames, then finish.
package struct AssetWriter: ~Copyable {
    private var converter: SampleConverter
    private var track: TrackEncoder<PacketWriter>

    private init(_ converter: consuming SampleConverter, _ track: consuming TrackEncoder<PacketWriter>) {
        self.converter = converter
        self.track = track
    }

    /// Opens a file for samples of one shape.
    static func open(
        _ store: any RandomAccessOutput, _ settings: EncodingSettings, input: SampleShape, depth: SampleDepth,
        tags: HeaderTags, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) -> AssetWriter {
        let converter = try SampleConverter.open(input, depth, for: settings)
        return AssetWriter(converter, try TrackEncoder.open(store, settings, tags: tags, threads: threads, stop: stop))
    }

    /// Adds a track for samples of one shape to a file of several tracks. The caller writes the file's header and trailer.
    package static func add(
        to file: MuxedFile, _ settings: EncodingSettings, input: SampleShape, depth: SampleDepth, label: TrackLabel
    ) throws(MediaError) -> AssetWriter {
        let converter = try SampleConverter.open(input, depth, for: settings)
        return AssetWriter(converter, try TrackEncoder.add(to: file, settings, label: label))
    }

    /// Samples of each channel in the file so far, at the output's rate.
    package var written: Int64 { track.written }

    /// The packets that the container received.
    package var tally: PacketTally { track.output.tally }
    /// The samples that the encoder and the decoder add at both ends.
    package var padding: CodecPadding { track.output.padding }

    /// How the samples were encoded.
    package var report: SegmentReport? { track.output.report }

    /// The requested and the effective dither by job field name.
    package var effective: [String: Setting] { converter.effective }

    /// Warnings about the written samples.
    package var warnings: [Warning] { converter.clipping.warnings }

    /// Encodes a frame's samples, which must have the shape that the writer was opened with.
    package mutating func append(_ frame: borrowing Frame) throws(MediaError) {
        if try converter.convert(frame) {
            try track.encode(converter.result)
        } else {
            try track.encode(frame)
        }
    }

    /// Finishes the file. Its length is exactly that of the input: `ceil(samples · output rate / input rate)`.
    package mutating func finish() throws(MediaError) {
        while try converter.drain() { try track.encode(converter.result) }
        try track.finish()
    }
}

extension EncodingSettings {
    /// The significant bits of each integer sample in the file; `nil` unless they are fewer than the input's and than the size
    /// in memory. If the rate or the channels change, the input's samples are floating point in between.
    func reducedBits(from depth: SampleDepth, changes: Bool) -> Int? {
        guard sampleFormat?.base == .s24 else { return nil }
        if case .integer(...24) = depth, !changes { return nil }
        return 24
    }
}
