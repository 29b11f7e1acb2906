package import Bytes
package import Decoding
package import Filters
package import Libav
import Lifecycle
package import MediaTypes
import Tags

/// The way of one track of a file: the stages of its sound, and its encoder with the muxer. Append frames, then finish.
package final class TrackPath {
    /// The number among the file's tracks, from 1.
    package let number: Int
    package let settings: EncodingSettings
    /// The stages that samples pass before the encoder.
    package let sound: SoundPath
    private var encoder: TrackEncoder<PacketWriter>
    private let inputRate: Int
    private var taken: Int64 = 0

    private init(
        _ number: Int, _ settings: EncodingSettings, _ sound: SoundPath,
        _ encoder: consuming TrackEncoder<PacketWriter>,
        inputRate: Int
    ) {
        (self.number, self.settings, self.sound, self.inputRate) = (number, settings, sound, inputRate)
        self.encoder = encoder
    }

    /// Opens the only track of a file, with its muxer.
    static func open(
        _ store: any RandomAccessOutput, _ settings: EncodingSettings, _ sound: SoundPath, inputRate: Int,
        tags: HeaderTags, threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) -> TrackPath {
        TrackPath(
            1, settings, sound,
            try TrackEncoder.open(store, settings, tags: tags, threads: threads, stop: stop), inputRate: inputRate)
    }

    /// Adds a track to a file of several ones. The caller writes the file's header and trailer.
    package static func add(
        _ number: Int, to file: MuxedFile, _ rendition: Rendition, _ reader: borrowing AssetReader, _ label: TrackLabel
    ) throws(MediaError) -> TrackPath {
        let settings = try EncodingSettings.resolve(
            rendition, try rendition.sound.shape(of: reader.shape), reader.depth)
        return TrackPath(
            number, settings, try SoundPath(rendition.sound, reader.shape, reader.depth, settings, nil),
            try TrackEncoder.add(to: file, settings, label: label), inputRate: reader.shape.rate)
    }

    /// Processes and encodes a frame of the source's shape.
    package func append(_ frame: borrowing Frame) throws(MediaError) {
        taken += Int64(frame.samples)
        try sound.append(frame) { (changed: borrowing Frame) throws(MediaError) in try encoder.encode(changed) }
    }

    /// Ends the track, and a file of one track. Its length is exactly that of the input: `ceil(samples · output rate / input rate)`.
    package func finish() throws(MediaError) {
        try sound.finish { (rest: borrowing Frame) throws(MediaError) in try encoder.encode(rest) }
        try encoder.finish()
    }

    /// Seconds of the range that were processed so far.
    package var seconds: Double { Double(taken) / Double(inputRate) }

    /// Samples of each channel in the file so far, at the output's rate.
    package var samples: Int64 { encoder.written }

    /// The packets that the container received.
    var tally: PacketTally { encoder.output.tally }

    /// The samples that the encoder and the decoder add at both ends.
    var padding: CodecPadding { encoder.output.padding }

    /// How the samples were encoded.
    var report: SegmentReport? { encoder.output.report }

    package var check: OutputCheck { OutputCheck(settings, samples: samples, written: tally) }

    package var gapless: Gapless { padding.gapless(settings, packets: tally.count, samples: samples) }

    /// The requested and the effective settings, by job field name.
    package var effective: [String: Setting] { settings.effective.merging(sound.effective) { $1 } }

    package var warnings: [Warning] { settings.warnings + sound.warnings }
}
