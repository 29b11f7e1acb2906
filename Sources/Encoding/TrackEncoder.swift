package import Bytes
import CLibav
import Decoding
package import Libav
import Lifecycle
import Tags

/// Encodes samples of the encoder's shape in portions of its frame size.
package struct TrackEncoder<Output: FrameWriter & ~Copyable>: ~Copyable {
    private let portions: FramePortions
    /// Receives the frames after they were divided into the encoder's frame size.
    package private(set) var output: Output
    /// Samples sent to the encoder, without the silence around them.
    package private(set) var written: Int64 = 0

    /// `shape` is the encoder's shape, which every frame must have.
    package init(_ output: consuming Output, _ shape: SampleShape) throws(MediaError) {
        portions = try FramePortions(shape, size: output.frameSize)
        self.output = output
    }

    /// Encodes whole portions, and keeps the rest. The first call encodes the leading silence before the samples.
    package mutating func encode(_ frame: borrowing Frame) throws(MediaError) {
        guard frame.samples > 0 else { return }
        if written == 0 { try silence(output.padding.lead) }
        written += Int64(frame.samples)
        if portions.isPortion(frame) { return try output.send(frame) }
        try portions.append(frame)
        try sendWholePortions()
    }

    /// Encodes the remaining samples in a short frame, and finishes the output.
    package mutating func finish() throws(MediaError) {
        output.setLength(written)
        if written > 0 { try silence(output.padding.tail) }
        if try portions.takeRest() { try output.send(portions.portion) }
        try output.finish()
    }

    private mutating func silence(_ samples: Int) throws(MediaError) {
        try portions.appendSilence(samples)
        try sendWholePortions()
    }

    private mutating func sendWholePortions() throws(MediaError) {
        while try portions.takeWhole() { try output.send(portions.portion) }
    }
}

extension TrackEncoder where Output == PacketWriter {
    static func open(
        _ store: any RandomAccessOutput, _ settings: EncodingSettings, tags: HeaderTags, threads: ThreadBudget,
        stop: CancellationFlag
    ) throws(MediaError) -> TrackEncoder {
        try TrackEncoder(
            try PacketWriter.open(store, settings, tags: tags, threads: threads, stop: stop), settings.shape)
    }

    /// Adds a track to a file of several tracks. The caller writes the file's header and trailer.
    static func add(
        to file: MuxedFile, _ settings: EncodingSettings, label: TrackLabel
    ) throws(MediaError) -> TrackEncoder {
        // A track that is a segment behind the others would make the muxer keep their packets.
        let output = try PacketWriter.add(
            to: file, settings, label: label, isAlone: false, threads: .one, stop: CancellationFlag())
        return try TrackEncoder(output, settings.shape)
    }
}
