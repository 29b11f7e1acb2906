import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Mends or checks what libav says of a packet's place and time, in containers in which that shows a gap.
struct PacketPlaces: ~Copyable {
    private let form: Form
    private let source: any ByteSource
    private let stream: UnsafeMutablePointer<AVStream>
    private var chunks = ChunkIndex()
    private(set) var pages = OggPages()
    private var vorbisPage: VorbisPage
    private var offsets = TransportOffsets()

    private enum Form {
        /// AVI's chunks, by its index.
        case chunks
        /// Ogg's pages, by their numbers.
        case pages(isVorbis: Bool)
        /// Frames of ADTS, by their bytes.
        case frames
        /// As libav says.
        case told
    }

    /// The stream must outlive this.
    init(_ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, _ places: PlaceSource) {
        form =
            switch places {
            case .chunkIndex: .chunks
            case .pages: .pages(isVorbis: stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_VORBIS)
            // The place is looked for far ahead, and what a stream without an end brings comes only once.
            case .frameBytes: source.isEndless ? .told : .frames
            case .libav: .told
            }
        (self.source, self.stream) = (source, stream)
        vorbisPage = VorbisPage(source, stream)
    }

    /// Puts a packet right that was just read; `position` is where libav reads next.
    mutating func correct(_ packet: borrowing Packet, position: Int64) throws(MediaError) {
        switch form {
        case .chunks: chunks.correct(packet, stream)
        case .pages(let isVorbis):
            try pages.read(packet, source)
            if isVorbis { try vorbisPage.mend(packet) }
        case .frames: offsets.correct(packet, position: position, source)
        case .told: break
        }
    }

    /// Whether time that a packet leaves out was lost; asked where time jumps.
    mutating func showLoss(before packet: borrowing Packet) -> Bool {
        if case .chunks = form { return !isOvercounted(packet) }
        return pages.takeBreak()
    }

    /// Whether libav counts time behind a packet that nobody lost, as it may in AVI.
    func isOvercounted(_ packet: borrowing Packet) -> Bool { ChunkIndex.isOvercounted(packet, stream) }

    /// Goes on elsewhere.
    mutating func move(to offset: Int64) { offsets.move(to: offset) }

    /// Forgets the gaps so far.
    mutating func restart() { pages.takeBreak() }
}
