import CLibav
import Lifecycle

/// Encodes samples of the encoder's shape in portions of its frame size, and muxes what comes.
struct TrackEncoder: ~Copyable {
    private let fifo: SampleFifo
    private let frameSize: Int?
    private let portion = Frame()
    private var output: PacketWriter

    private init(_ fifo: consuming SampleFifo, _ output: consuming PacketWriter) {
        self.fifo = fifo
        self.frameSize = output.frameSize
        self.output = output
    }

    static func open(
        _ store: any ByteStore, _ settings: EncodingSettings, tags: HeaderTags, stop: StopFlag
    ) throws(MediaError) -> TrackEncoder {
        let output = try PacketWriter.open(store, settings, tags: tags, stop: stop)
        return TrackEncoder(try SampleFifo.open(settings.shape, capacity: (output.frameSize ?? 0) * 2 + 1), output)
    }

    var written: Int64 { output.written }

    mutating func encode(_ frame: borrowing Frame) throws(MediaError) {
        guard frame.samples > 0 else { return }
        guard let size = frameSize, fifo.count > 0 || frame.samples != size else { return try output.send(frame) }
        try fifo.append(frame)
        while fifo.count >= size {
            try fifo.take(size, into: portion)
            try output.send(portion)
        }
    }

    /// Encodes what is left, in one short frame, and ends the file.
    mutating func finish() throws(MediaError) {
        if fifo.count > 0 {
            try fifo.take(fifo.count, into: portion)
            try output.send(portion)
        }
        try output.finish()
    }
}

/// An encoder and the container that takes its packets.
struct PacketWriter: ~Copyable {
    private let encoder: Encoder
    private let muxer: Muxer
    private let packet = Packet()
    private let rate: Int
    /// Samples given to the encoder.
    private(set) var written: Int64 = 0

    private init(_ encoder: consuming Encoder, _ muxer: consuming Muxer, rate: Int) {
        self.encoder = encoder
        self.muxer = muxer
        self.rate = rate
    }

    static func open(
        _ store: any ByteStore, _ settings: EncodingSettings, tags: HeaderTags, stop: StopFlag
    ) throws(MediaError) -> PacketWriter {
        let muxer = try Muxer.open(store, settings, stop: stop)
        let encoder = try Encoder.open(settings, globalHeader: muxer.wantsGlobalHeader)
        try muxer.start(encoder, settings, tags: tags)
        return PacketWriter(encoder, muxer, rate: settings.shape.rate)
    }

    /// Samples of each channel that every frame but the last must hold; nothing if any number will do.
    var frameSize: Int? { encoder.frameSize }

    mutating func send(_ frame: borrowing Frame) throws(MediaError) {
        frame.pointer.pointee.pts = written
        written += Int64(frame.samples)
        try encoder.send(frame)
        try writePackets()
    }

    borrowing func finish() throws(MediaError) {
        try encoder.sendEnd()
        try writePackets()
        try muxer.finish()
    }

    private borrowing func writePackets() throws(MediaError) {
        while try encoder.receive(into: packet) { try muxer.write(packet, rate: rate) }
    }
}
