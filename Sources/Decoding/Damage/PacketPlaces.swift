import Bytes
import CLibav
import Containers
import Demuxing
import Libav

/// Corrects or checks libav's packet offsets and times, in containers in which they show a gap.
struct PacketPlaces: ~Copyable {
    private let form: Form
    private let source: any ByteSource
    private let stream: UnsafeMutablePointer<AVStream>
    private var chunks = ChunkIndex()
    private(set) var pages = OggPages()
    private var vorbisPage: VorbisPage
    private var offsets = TransportOffsets()

    private enum Form {
        /// AVI chunks, by the index.
        case chunks
        /// Ogg pages, by their sequence numbers.
        case pages(AVCodecID)
        /// ADTS frames, by their bytes.
        case frames
        /// libav's values, unchanged.
        case libav
    }

    /// The stream must outlive this value.
    init(_ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, _ places: PlaceSource) {
        form =
            switch places {
            case .chunkIndex: .chunks
            case .pages: .pages(stream.pointee.codecpar.pointee.codec_id)
            // The offset is searched far ahead, which an endless stream does not allow.
            case .frameBytes: source.isEndless ? .libav : .frames
            case .libav: .libav
            }
        (self.source, self.stream) = (source, stream)
        vorbisPage = VorbisPage(source, stream)
    }

    /// Corrects a packet that was just read. `position` is where libav reads next. Returns the time at which the sound began, if what
    /// was before the first packet is missing.
    mutating func correct(_ packet: borrowing Packet, position: Int64) throws(MediaError) -> Int64? {
        switch form {
        case .chunks: chunks.correct(packet, stream)
        case .pages(let codec):
            let start = try pages.read(packet, source, flac: codec == AV_CODEC_ID_FLAC ? stream : nil)
            if codec == AV_CODEC_ID_VORBIS { try vorbisPage.mend(packet) }
            return start
        case .frames: offsets.correct(packet, position: position, source)
        case .libav: break
        }
        return nil
    }

    /// Whether a gap in time before a packet is a loss. It is called if the timestamp jumps.
    mutating func showLoss(before packet: borrowing Packet) -> Bool {
        if case .chunks = form { return !isOvercounted(packet) }
        return pages.takeBreak()
    }

    /// Returns and resets the bytes of missing pages.
    mutating func takeSkipped() -> Int64 { pages.takeSkipped() }

    /// Whether libav counts time after a packet that is not lost, as it may in AVI.
    func isOvercounted(_ packet: borrowing Packet) -> Bool { ChunkIndex.isOvercounted(packet, stream) }

    /// Continues at another offset.
    mutating func move(to offset: Int64) { offsets.move(to: offset) }

    /// Resets the gaps so far.
    mutating func restart() { pages.restart() }
}
