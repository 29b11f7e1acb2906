package import CLibav
package import Libav

/// Determines how many samples a track's packets decode to, from their bytes.
package struct PacketSamples: ~Copyable {
    private let codec: AVCodecID
    private let blockBytes: Int
    private let parameters: UnsafeMutablePointer<AVCodecParameters>
    private var vorbis: OpaquePointer?
    private let countsLinearPrediction: Bool
    /// The header bits of the first frame that are constant in a stream, if frames have a header.
    private var kind: UInt32?
    /// The samples of every packet, if all have the same number and their bytes do not contain it.
    package var constant: Int?

    /// The stream must outlive this value. Opus packets of linear prediction only are counted on request, because libav's
    /// decoder does not return exactly the samples of a whole decode after starting at one of them.
    package init(_ stream: UnsafeMutablePointer<AVStream>, countsLinearPrediction: Bool = false) {
        self.countsLinearPrediction = countsLinearPrediction
        parameters = stream.pointee.codecpar
        codec = parameters.pointee.codec_id
        blockBytes = Int(parameters.pointee.block_align)
        vorbis =
            codec == AV_CODEC_ID_VORBIS
            ? av_vorbis_parse_init(parameters.pointee.extradata, parameters.pointee.extradata_size) : nil
    }

    deinit {
        var vorbis = vorbis
        av_vorbis_parse_free(&vorbis)
    }

    /// Whether a packet's length can only be determined from that of the others.
    package var isConstant: Bool {
        switch codec {
        case AV_CODEC_ID_AAC, AV_CODEC_ID_SPEEX, AV_CODEC_ID_TTA: true
        default: false
        }
    }

    /// The samples of the track's next packet; `nil` if they cannot be determined.
    package mutating func samples(_ packet: borrowing Packet) -> Int? {
        let bytes = packet.bytes
        guard !packet.isCorrupt, bytes.count > 0 else { return nil }
        switch codec {
        case AV_CODEC_ID_MP1, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3,
            AV_CODEC_ID_DTS:
            return FrameHeader.samples(codec, bytes, whole: true).flatMap { isLikeFirst(bytes, $0) ? $0 : nil }
        case AV_CODEC_ID_OPUS, AV_CODEC_ID_FLAC, AV_CODEC_ID_VORBIS: return samples(beginning: bytes)
        case AV_CODEC_ID_ALAC: return alac(bytes)
        case AV_CODEC_ID_WAVPACK: return bytes.count >= 32 ? Self.little(bytes, 20) : nil
        case AV_CODEC_ID_GSM: return bytes.count % 33 == 0 ? bytes.count / 33 * 160 : nil
        case AV_CODEC_ID_GSM_MS:
            return blockBytes > 0 && bytes.count % blockBytes == 0 ? bytes.count / blockBytes * 320 : nil
        case let codec where isConstant:
            // An ADTS frame may contain several raw data blocks.
            if codec == AV_CODEC_ID_AAC, FrameHeader.holdsSeveralBlocks(bytes) { return nil }
            return constant
        default:
            let count = av_get_audio_frame_duration2(parameters, CInt(bytes.count))
            return count > 0 ? Int(count) : nil
        }
    }

    /// Whether a frame has the sample rate of the first one.
    private mutating func isLikeFirst(_ bytes: UnsafeBufferPointer<UInt8>, _ samples: Int) -> Bool {
        guard let found = FrameWalk.frame(codec, bytes, at: 0, samples)?.kind else { return true }
        defer { kind = kind ?? found }
        return kind ?? found == found
    }

    /// The samples of the next packet, from its first bytes.
    package mutating func samples(beginning bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count > 0 else { return nil }
        switch codec {
        case AV_CODEC_ID_OPUS: return countsLinearPrediction || bytes[0] >> 3 >= 12 ? Self.opus(bytes) : nil
        case AV_CODEC_ID_FLAC: return Self.flac(bytes)
        case AV_CODEC_ID_VORBIS:
            // The decoder accepts some headers that this parser does not.
            guard let vorbis else { return nil }
            let count = av_vorbis_parse_frame(vorbis, bytes.baseAddress, CInt(bytes.count))
            return count >= 0 ? Int(count) : nil
        default: return nil
        }
    }

    /// Continues with the first packet of a Vorbis stream (`av_vorbis_parse_reset`).
    package func forget() { av_vorbis_parse_reset(vorbis) }

    /// Continues with the headers of another link of chained Vorbis; returns `false` if they are invalid.
    package mutating func restart(vorbis headers: [[UInt8]]) -> Bool {
        // Xiph lacing, as in Matroska: the sizes of all headers except the last one.
        let sizes = headers.dropLast().flatMap {
            [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)]
        }
        let setup = [UInt8(headers.count - 1)] + sizes + headers.joined()
        av_vorbis_parse_free(&vorbis)
        vorbis = av_vorbis_parse_init(setup, CInt(setup.count))
        return vorbis != nil
    }

    /// From the table of contents byte (RFC 6716, section 3.1).
    static func opus(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let configuration = Int(bytes[0] >> 3)
        let frame =
            switch configuration {
            case ..<12: [480, 960, 1920, 2880][configuration & 3]
            case ..<16: 480 << (configuration & 1)
            default: 120 << (configuration & 3)
            }
        switch bytes[0] & 3 {
        case 0: return frame
        case 1, 2: return 2 * frame
        default: return bytes.count > 1 ? Int(bytes[1] & 63) * frame : nil
        }
    }

    /// From the block size in a frame header (RFC 9639, section 9.1).
    static func flac(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count >= 10, bytes[0] == 0xFF, bytes[1] & 0xFC == 0xF8 else { return nil }
        let code = Int(bytes[2] >> 4)
        // The coded number before it has the length of its UTF-8 encoding.
        let width = max((~bytes[4]).leadingZeroBitCount, 1)
        guard bytes.count >= 6 + width else { return nil }
        switch code {
        case 0: return nil
        case 1: return 192
        case 2...5: return 576 << (code - 2)
        case 6: return Int(bytes[4 + width]) + 1
        case 7: return (Int(bytes[4 + width]) << 8 | Int(bytes[5 + width])) + 1
        default: return 256 << (code - 8)
        }
    }

    /// The frame length of the configuration, unless the packet declares another one.
    private func alac(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count >= 7, let configuration = parameters.pointee.extradata,
            parameters.pointee.extradata_size >= 16
        else { return nil }
        if bytes[2] & 0x10 != 0 {
            let upper = Int(bytes[2] & 1) << 31 | Int(bytes[3]) << 23 | Int(bytes[4]) << 15
            return upper | Int(bytes[5]) << 7 | Int(bytes[6]) >> 1
        }
        return (12..<16).reduce(0) { $0 << 8 | Int(configuration[$1]) }
    }

    private static func little(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Int {
        (0..<4).reversed().reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }
}
