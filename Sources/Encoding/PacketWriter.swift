import Bytes
import CLibav
import Decoding
import Encoders
import Libav
import Lifecycle
import MediaTypes
import Tags

/// Encodes a track and writes its packets to a file, which may have several tracks.
struct PacketWriter: ~Copyable, FrameWriter {
    let padding: CodecPadding
    private let encoder: ParallelEncoder
    private let file: MuxedFile
    private let stream: Int
    private let isAlone: Bool
    private let settings: EncodingSettings
    private let gapless: GaplessSignaling
    /// Whether respool declares how many of a packet's last samples are padding.
    private let marksPadding: Bool
    private let packet: Packet
    private let vorbis: VorbisLengths?
    /// The position of the next sample sent to the encoder. The first true sample is at zero.
    private var position: Int64
    /// The number of true samples, once known.
    private var length: Int64?
    /// The packets that the container received.
    private(set) var tally: PacketTally

    private init(
        _ encoder: ParallelEncoder, _ packet: consuming Packet, _ file: MuxedFile, stream: Int, isAlone: Bool,
        _ settings: EncodingSettings
    ) {
        padding = CodecPadding(encoder.encoder, settings)
        position = Int64(-padding.lead)
        let container = settings.format.container
        tally = PacketTally(sums: container.check.sumsFrames)
        gapless = container.gapless
        marksPadding = gapless == .codecDelay && settings.codec.edges.areMarked
        let needsLengths = gapless == .codecDelay && settings.codec.packets.length == .setup
        vorbis = needsLengths ? VorbisLengths(encoder.encoder) : nil
        self.encoder = encoder
        self.packet = packet
        self.file = file
        self.stream = stream
        self.isAlone = isAlone
        self.settings = settings
    }

    static func open(
        _ store: any RandomAccessOutput, _ settings: EncodingSettings, tags: HeaderTags, threads: ThreadBudget,
        stop: CancellationFlag
    ) throws(MediaError) -> PacketWriter {
        let file = MuxedFile(try Muxer.open(store, settings, stop: stop))
        let writer = try add(to: file, settings, label: nil, isAlone: true, threads: threads, stop: stop)
        try file.muxer.start(settings, rate: settings.shape.rate, tags: tags)
        return writer
    }

    /// Adds a track to a file. If the file has other tracks, the caller writes its header and trailer.
    static func add(
        to file: MuxedFile, _ settings: EncodingSettings, label: TrackLabel?, isAlone: Bool,
        threads: ThreadBudget, stop: CancellationFlag
    ) throws(MediaError) -> PacketWriter {
        let encoder = try ParallelEncoder(
            settings, globalHeader: file.muxer.wantsGlobalHeader, threads: threads, stop: stop)
        let stream = try file.muxer.add(encoder.encoder, settings, label: label)
        return PacketWriter(encoder, try Packet(), file, stream: stream, isAlone: isAlone, settings)
    }

    var frameSize: Int? { encoder.frameSize }

    /// How the track was encoded.
    var report: SegmentReport? { encoder.report }

    mutating func send(_ frame: borrowing Frame) throws(MediaError) {
        frame.pointer.pointee.pts = position
        position += Int64(frame.samples)
        try encoder.send(frame)
        try writePackets()
    }

    mutating func setLength(_ samples: Int64) { length = samples }

    mutating func finish() throws(MediaError) {
        try encoder.sendEnd()
        try writePackets()
        if isAlone { try file.muxer.finish() }
    }

    private mutating func writePackets() throws(MediaError) {
        while try encoder.receive(into: packet) {
            guard try trim() else { continue }
            tally.add(packet)
            try file.muxer.write(packet, rate: settings.shape.rate, stream: stream)
        }
    }

    /// Removes samples after the last true one from the packet's duration; returns `false` if no samples remain.
    private mutating func trim() throws(MediaError) -> Bool {
        let decoded: Int64? =
            switch vorbis {
            case .some(let vorbis): vorbis.next(packet)
            case .none: frameSize.map { Int64($0) }
            }
        if gapless == .lameTag, let length {
            // libav's tag contains the padding of the last packet, but LAME's padding may begin in the packet before it. The
            // last packet's timestamp is too early in that case.
            let excess = padding.remainder(packets: tally.count + 1, samples: length)
            // The first packet carries the delay, and may also be the one in which padding begins.
            if excess > 0 { try packet.trim(skip: packet.trimming?.skip ?? 0, discard: excess) }
            return true
        }
        guard let length, let decoded, let start = packet.timestamp, gapless == .editList || marksPadding
        else { return true }
        let excess = start + decoded - length
        guard excess > 0 else { return true }
        guard excess < decoded else { return false }
        packet.pointer.pointee.duration = decoded - excess
        if marksPadding { try packet.trim(skip: 0, discard: excess) }
        return true
    }
}
