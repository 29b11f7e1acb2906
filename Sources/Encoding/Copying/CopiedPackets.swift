package import Bytes
import CLibav
import Decoding
import Demuxing
import Libav

/// Validates the packets of a copied track: each must be intact and of the same format. Counts their samples.
struct CopiedPackets: ~Copyable {
    private let track: AudioTrack
    /// Whether each packet is an AAC frame with an ADTS header.
    private let isADTS: Bool
    private var lengths: PacketSamples
    private var isFirst = true
    private var gap = FrameGap()
    /// The header bits of MPEG audio that must not change between frames: version, layer, rate, and whether it is mono.
    private var kind: [UInt8]?

    private init(_ track: AudioTrack, isADTS: Bool, _ samples: consuming PacketSamples) {
        self.track = track
        self.isADTS = isADTS
        lengths = samples
    }

    /// Prepares for the packets of a stream, which must outlive this value. Throws for unsupported codecs.
    static func open(
        _ stream: UnsafeMutablePointer<AVStream>, _ track: AudioTrack
    ) throws(MediaError) -> CopiedPackets {
        let parameters = stream.pointee.codecpar.pointee
        var samples = PacketSamples(stream, countsLinearPrediction: true)
        switch track.codec {
        case AV_CODEC_ID_AAC:
            guard parameters.frame_size == 1024, (0...3).contains(parameters.profile) else {
                throw .notCopied("only AAC with 1024 samples per frame and without SBR can be copied")
            }
            samples.constant = 1024
        case AV_CODEC_ID_OPUS:
            // Core Audio files have no identification header, so the pre-skip is unknown.
            guard parameters.extradata_size >= 19 else { throw .notCopied("its Opus has no identification header") }
        case AV_CODEC_ID_FLAC:
            // Decoders can work with frame headers alone; containers cannot.
            guard parameters.extradata_size >= 34 else { throw .notCopied("its FLAC has no stream information") }
        case AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_VORBIS, AV_CODEC_ID_ALAC, AV_CODEC_ID_AC3,
            AV_CODEC_ID_EAC3, AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA:
            break
        default: throw .notCopied("packets of \(track.codecName) cannot be copied")
        }
        let isADTS = track.codec == AV_CODEC_ID_AAC && parameters.extradata_size == 0
        return CopiedPackets(track, isADTS: isADTS, samples)
    }

    /// The samples of the next packet; `nil` for a tag between the frames.
    mutating func samples(of packet: borrowing Packet) throws(MediaError) -> Int64? {
        guard !packet.bytes.isEmpty, !packet.isCorrupt else { throw .notCopied("one of its packets is incomplete") }
        if try isTag(packet.bytes) { return nil }
        guard isIntact(packet.bytes), let samples = declaredSamples(packet) else {
            throw .notCopied("one of its packets is damaged or does not declare its duration")
        }
        return samples
    }

    private mutating func declaredSamples(_ packet: borrowing Packet) -> Int64? {
        defer { isFirst = false }
        switch track.codec {
        // The container's duration, if it counts samples.
        case AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA:
            return track.countsSamples && packet.duration > 0 ? packet.duration : nil
        // The first Vorbis packet outputs no samples, because it only starts the overlap.
        case AV_CODEC_ID_VORBIS: return lengths.samples(packet).map { isFirst ? 0 : Int64($0) }
        default: return lengths.samples(packet).map { Int64($0) }
        }
    }

    /// Whether the packet is a tag between MPEG audio frames. Throws if a frame's format differs from the earlier ones.
    private mutating func isTag(_ bytes: UnsafeBufferPointer<UInt8>) throws(MediaError) -> Bool {
        guard [AV_CODEC_ID_MP3, AV_CODEC_ID_MP2].contains(track.codec) else { return false }
        switch gap.read(bytes) {
        case .none: break
        case .known: return true
        case .unknown: throw .notCopied("it has bytes between its frames that are not audio")
        }
        guard FrameHeader.length(track.codec, bytes) == bytes.count else { return false }
        let kind = [bytes[1] & 0x1E, bytes[2] & 0x0C, bytes[3] & 0xC0 == 0xC0 ? 1 : 0]
        guard self.kind ?? kind == kind else { throw .notCopied("its sample rate or channels change within the range") }
        self.kind = kind
        return false
    }

    /// Whether a frame's checksum is correct, in codecs that have one, and the packet is exactly one frame.
    private func isIntact(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        switch track.codec {
        case AV_CODEC_ID_FLAC: Self.hasSum(bytes[...])
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3:
            // Dependent frames add channels to the frame before them, but no time.
            FrameHeader.length(track.codec, bytes) == bytes.count && Self.hasSum(bytes.dropFirst(2))
        case AV_CODEC_ID_AAC: !isADTS || FrameHeader.adtsLength(bytes) == bytes.count && bytes.count > 9
        default: true
        }
    }

    /// Whether the CRC-16 at the end of a frame is correct.
    private static func hasSum(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let frame = UnsafeBufferPointer(rebasing: bytes)
        return av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, frame.baseAddress, frame.count) == 0
    }
}

extension MediaError {
    /// The error for a source whose packets cannot be copied.
    package static func notCopied(_ why: String) -> MediaError {
        MediaError(
            .invalidSettings, "copy the audio",
            "the audio cannot be copied: \(why); set `passthrough` to `auto` to encode it")
    }
}
