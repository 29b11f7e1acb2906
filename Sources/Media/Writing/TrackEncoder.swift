import CLibav
import Lifecycle

/// Encodes samples of the encoder's shape in portions of its frame size, and muxes what comes.
struct TrackEncoder: ~Copyable {
    private let fifo: SampleFifo
    private let frameSize: Int?
    private let shape: SampleShape
    private let portion: Frame
    private var output: PacketWriter
    /// Samples given to the encoder, without the silence around them.
    private(set) var written: Int64 = 0

    private init(
        _ fifo: consuming SampleFifo, _ portion: consuming Frame, _ shape: SampleShape, _ output: consuming PacketWriter
    ) {
        self.fifo = fifo
        self.portion = portion
        self.shape = shape
        self.frameSize = output.frameSize
        self.output = output
    }

    static func open(
        _ store: any ByteStore, _ settings: EncodingSettings, tags: HeaderTags, stop: StopFlag
    ) throws(MediaError) -> TrackEncoder {
        try TrackEncoder(try PacketWriter.open(store, settings, tags: tags, stop: stop), settings)
    }

    /// Adds a track to a file of several, whose header and end are the caller's matter.
    static func add(
        to file: MuxedFile, _ settings: EncodingSettings, label: TrackLabel
    ) throws(MediaError) -> TrackEncoder {
        try TrackEncoder(try PacketWriter.add(to: file, settings, label: label, isAlone: false), settings)
    }

    private init(_ output: consuming PacketWriter, _ settings: EncodingSettings) throws(MediaError) {
        let fifo = try SampleFifo.open(settings.shape, capacity: (output.frameSize ?? 0) * 2 + 1)
        self.init(fifo, try Frame(), settings.shape, output)
    }

    /// What the container was given.
    var tally: PacketTally { output.tally }
    var padding: CodecPadding { output.padding }

    mutating func encode(_ frame: borrowing Frame) throws(MediaError) {
        guard frame.samples > 0 else { return }
        if written == 0 { try silence(output.padding.lead) }
        written += Int64(frame.samples)
        guard let size = frameSize, fifo.count > 0 || frame.samples != size else { return try output.send(frame) }
        try fifo.append(frame)
        try sendWholeFrames(size)
    }

    /// Encodes what is left, in one short frame, and ends the file.
    mutating func finish() throws(MediaError) {
        output.setLength(written)
        if written > 0 { try silence(output.padding.tail) }
        if fifo.count > 0 {
            try fifo.take(fifo.count, into: portion)
            try output.send(portion)
        }
        try output.finish()
    }

    private mutating func silence(_ samples: Int) throws(MediaError) {
        guard samples > 0, let size = frameSize else { return }
        try portion.reserve(samples, shape)
        portion.silence(shape)
        try fifo.append(portion)
        try sendWholeFrames(size)
    }

    private mutating func sendWholeFrames(_ size: Int) throws(MediaError) {
        while fifo.count >= size {
            try fifo.take(size, into: portion)
            try output.send(portion)
        }
    }
}
