import CLibav

/// How many samples each packet of a track decodes to, told without decoding it.
struct PacketLength: ~Copyable {
    private let codec: AVCodecID
    private let track: AudioTrack
    private let vorbis: OpaquePointer?
    /// Samples of a usual packet, for codecs whose last one is shorter.
    private let frameLength: Int64
    private var isFirst = true
    private var gap = FrameGap()
    /// What must not change from one frame of MPEG audio to the next: version, layer, rate, and whether it is mono.
    private var kind: [UInt8]?

    private init(_ track: AudioTrack, vorbis: OpaquePointer?, frameLength: Int64) {
        codec = track.codec
        self.frameLength = frameLength
        self.track = track
        self.vorbis = vorbis
    }

    deinit {
        var vorbis = vorbis
        if vorbis != nil { av_vorbis_parse_free(&vorbis) }
    }

    /// Prepares for the packets of a stream; fails for codecs whose packets are not understood here.
    static func open(
        _ stream: UnsafeMutablePointer<AVStream>, _ track: AudioTrack
    ) throws(MediaError) -> PacketLength {
        let parameters = stream.pointee.codecpar.pointee
        var vorbis: OpaquePointer?
        var frameLength: Int64 = 0
        switch track.codec {
        case AV_CODEC_ID_AAC:
            guard parameters.frame_size == 1024, (0...3).contains(parameters.profile) else {
                throw .notCopied("only AAC of 1024 samples a frame and without band replication is copied")
            }
        case AV_CODEC_ID_OPUS:
            // Core Audio files hold no identification header, and without it nobody knows the pre-skip.
            guard parameters.extradata_size >= 19 else { throw .notCopied("its Opus has no identification header") }
        case AV_CODEC_ID_VORBIS:
            vorbis = av_vorbis_parse_init(parameters.extradata, parameters.extradata_size)
            guard vorbis != nil else { throw .notCopied("its Vorbis headers make no sense") }
        case AV_CODEC_ID_ALAC where parameters.extradata_size >= 16:
            frameLength = (12..<16).reduce(0) { $0 << 8 | Int64(parameters.extradata[$1]) }
        case AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_FLAC, AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3,
            AV_CODEC_ID_WAVPACK, AV_CODEC_ID_TTA:
            break
        default: throw .notCopied("packets of \(track.codecName) are not copied")
        }
        return PacketLength(track, vorbis: vorbis, frameLength: frameLength)
    }

    /// Samples that the next packet decodes to; nothing for one that is a tag between the frames.
    mutating func samples(of packet: borrowing Packet) throws(MediaError) -> Int64? {
        defer { isFirst = false }
        let bytes = packet.bytes
        guard !bytes.isEmpty, !packet.isCorrupt else { throw .notCopied("one of its packets is not whole") }
        let samples: Int64? =
            switch codec {
            case AV_CODEC_ID_MP3, AV_CODEC_ID_MP2: try mpegAudio(bytes)
            case AV_CODEC_ID_AAC: 1024
            case AV_CODEC_ID_OPUS: Self.opus(bytes)
            // The first packet of Vorbis only begins what the second one ends.
            case AV_CODEC_ID_VORBIS: vorbisSamples(bytes)
            case AV_CODEC_ID_FLAC: Self.isIntact(bytes[...]) ? Self.flac(bytes) : nil
            case AV_CODEC_ID_ALAC: lossless(bytes)
            case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: dolby(bytes)
            default: timed(packet)
            }
        guard let samples else {
            throw .notCopied("one of its packets is damaged, or does not tell how long it is")
        }
        return samples < 0 ? nil : samples
    }

    /// Samples of a frame of layer II or III; fewer than none for a tag.
    private mutating func mpegAudio(_ bytes: UnsafeBufferPointer<UInt8>) throws(MediaError) -> Int64? {
        switch gap.read(bytes) {
        case .none: break
        case .known: return -1
        case .unknown: throw .notCopied("it holds bytes between its frames that are no audio")
        }
        guard FrameHeader.length(codec, bytes) == bytes.count else { return nil }
        let kind = [bytes[1] & 0x1E, bytes[2] & 0x0C, bytes[3] & 0xC0 == 0xC0 ? 1 : 0]
        guard self.kind ?? kind == kind else { throw .notCopied("its sample rate or channels change on the way") }
        self.kind = kind
        return codec == AV_CODEC_ID_MP3 && bytes[1] & 0x08 == 0 ? 576 : 1152
    }

    private func vorbisSamples(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        let samples = av_vorbis_parse_frame(vorbis, bytes.baseAddress, CInt(bytes.count))
        return samples < 0 ? nil : isFirst ? 0 : Int64(samples)
    }

    /// Samples of an Opus packet at 48 kHz (RFC 6716 section 3.1).
    private static func opus(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        let configuration = Int(bytes[0] >> 3)
        let frame =
            switch configuration {
            case ..<12: [480, 960, 1920, 2880][configuration & 3]
            case ..<16: [480, 960][configuration & 1]
            default: [120, 240, 480, 960][configuration & 3]
            }
        switch bytes[0] & 3 {
        case 0: return Int64(frame)
        case 1, 2: return Int64(2 * frame)
        default: return bytes.count > 1 ? Int64(frame) * Int64(bytes[1] & 63) : nil
        }
    }

    /// Samples of a FLAC frame (RFC 9639 section 9.1).
    private static func flac(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard bytes.count > 16, bytes[0] == 0xFF, bytes[1] & 0xFC == 0xF8 else { return nil }
        let code = Int(bytes[2] >> 4)
        // The frame's number comes before the length, in as many bytes as UTF-8 would take.
        let after = 4 + max((~bytes[4]).leadingZeroBitCount, 1)
        switch code {
        case 1: return 192
        case 2...5: return 576 << Int64(code - 2)
        case 6: return Int64(bytes[after]) + 1
        case 7: return Int64(bytes[after]) << 8 + Int64(bytes[after + 1]) + 1
        case 8...15: return 256 << Int64(code - 8)
        default: return nil
        }
    }

    /// Samples of an Apple Lossless packet, whose first element tells if they are fewer than usual.
    private func lossless(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard bytes.count >= 7, frameLength > 0 else { return nil }
        // Bit 19 says that 32 bits of length follow bit 22.
        guard bytes[2] & 0x10 != 0 else { return frameLength }
        let bits = bytes[2..<7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bits >> 1 & 0xFFFF_FFFF)
    }

    /// Samples of a frame of AC-3 or E-AC-3 (ETSI TS 102 366 annex E.1.3.1).
    private func dolby(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard FrameHeader.length(codec, bytes) == bytes.count, Self.isIntact(bytes.dropFirst(2)) else { return nil }
        guard codec == AV_CODEC_ID_EAC3 else { return 1536 }
        // Dependent frames add channels to the one before, and no time.
        guard bytes[2] >> 6 != 1 else { return nil }
        return bytes[4] >> 6 == 3 ? 1536 : [256, 512, 768, 1536][Int(bytes[4] >> 4 & 3)]
    }

    /// Whether the 16-bit sum at the end of a frame is right.
    private static func isIntact(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let frame = UnsafeBufferPointer(rebasing: bytes)
        return av_crc(av_crc_get_table(AV_CRC_16_ANSI), 0, frame.baseAddress, frame.count) == 0
    }

    /// Samples by the container's own count, where it counts in samples.
    private func timed(_ packet: borrowing Packet) -> Int64? {
        track.countsSamples && packet.duration > 0 ? packet.duration : nil
    }
}

extension MediaError {
    /// Why a source's packets cannot be copied as they are.
    static func notCopied(_ why: String) -> MediaError {
        MediaError(
            .invalidSettings, "copy the audio",
            "the audio cannot be copied as it is: \(why); with passthrough auto it is encoded anew")
    }
}
