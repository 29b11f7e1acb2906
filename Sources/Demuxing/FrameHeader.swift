package import CLibav

/// Parses frame headers that contain the frame's length, more strictly than decoders do.
package enum FrameHeader {
    /// Whether frames begin with an MPEG audio header.
    package static func isMPEG(_ codec: AVCodecID) -> Bool {
        switch codec {
        case AV_CODEC_ID_MP1, AV_CODEC_ID_MP2, AV_CODEC_ID_MP3: true
        default: false
        }
    }

    /// Whether frames are those of AC-3 or E-AC-3.
    package static func isDolby(_ codec: AVCodecID) -> Bool { codec == AV_CODEC_ID_AC3 || codec == AV_CODEC_ID_EAC3 }

    /// Whether a frame of E-AC-3 is a substream that belongs to the frame before it (ETSI TS 102 366, E.1.3.1).
    static func isDependent(_ codec: AVCodecID, _ head: [UInt8]) -> Bool {
        isDolby(codec) && head.count > 5 && head[5] >> 3 > 10 && head[2] >> 6 == 1
    }

    /// The declared length of a frame in bytes; `nil` for codecs that do not declare it.
    package static func length(_ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        switch codec {
        case AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP1: mpegLength(bytes)
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: dolbyLength(bytes)
        case AV_CODEC_ID_DTS: coherent(bytes)?.length
        // An access unit begins with four parity bits, followed by its length in words in twelve bits.
        case AV_CODEC_ID_TRUEHD, AV_CODEC_ID_MLP:
            bytes.count >= 2 ? 2 * (Int(bytes[0] & 0x0F) << 8 | Int(bytes[1])) : nil
        default: nil
        }
    }

    /// The sync bits of every frame; `nil` for codecs without them.
    static func mark(_ codec: AVCodecID) -> [(mask: UInt8, bits: UInt8)]? {
        switch codec {
        case AV_CODEC_ID_AAC: [(0xFF, 0xFF), (0xF6, 0xF0)]
        case AV_CODEC_ID_AAC_LATM: [(0xFF, 0x56), (0xE0, 0xE0)]
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: [(0xFF, 0x0B), (0xFF, 0x77)]
        case AV_CODEC_ID_DTS: [(0xFF, 0x7F), (0xFF, 0xFE), (0xFF, 0x80), (0xFF, 0x01)]
        case AV_CODEC_ID_GSM: [(0xF0, 0xD0)]
        default: nil
        }
    }

    /// Whether bytes begin with the sync bits; `nil` for codecs without them.
    @inlinable package static func isMarked(_ codec: AVCodecID, _ bytes: some Sequence<UInt8>) -> Bool? {
        mark(codec).map { zip(bytes, $0).allSatisfy { $0 & $1.mask == $1.bits } }
    }

    /// The samples of a frame if it is as long as its header declares. `whole` means that no bytes may follow the frame.
    package static func samples(_ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>, whole: Bool) -> Int? {
        guard let length = length(codec, bytes), length <= bytes.count, !whole || length == bytes.count else {
            // Dependent substreams are in the packet of the first one, and add channels to its samples.
            guard codec == AV_CODEC_ID_EAC3, let length = length(codec, bytes), length < bytes.count,
                bytes.count > length + 4, bytes[length + 2] >> 6 == 1
            else { return nil }
            return samples(codec, UnsafeBufferPointer(rebasing: bytes[..<length]), whole: true)
        }
        switch codec {
        case AV_CODEC_ID_AC3: return 1536
        case AV_CODEC_ID_DTS: return coherent(bytes)?.samples
        case AV_CODEC_ID_EAC3:
            // AC-3 syntax in an E-AC-3 stream.
            if bytes[5] >> 3 <= 10 { return 1536 }
            guard bytes[2] >> 6 == 0, bytes[2] >> 3 & 7 == 0 else { return nil }
            return bytes[4] >> 6 == 3 ? 1536 : 256 * [1, 2, 3, 6][Int(bytes[4] >> 4 & 3)]
        default:
            let (version, layer) = (bytes[1] >> 3 & 3, 4 - (bytes[1] >> 1 & 3))
            return layer == 1 ? 384 : layer == 2 || version == 3 ? 1152 : 576
        }
    }

    /// The offset of the frame of MPEG audio with which a packet ends, behind other bytes; `nil` if there is none. A parser ends a
    /// packet behind the first header in it.
    package static func startOfLast(_ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        bytes.indices.dropFirst().first {
            bytes[$0] == 0xFF && length(codec, UnsafeBufferPointer(rebasing: bytes[$0...])) == bytes.count - $0
        }
    }

    /// The codec of the header's layer; `nil` if it is not MPEG audio.
    package static func mpegCodec(_ bytes: UnsafeBufferPointer<UInt8>) -> AVCodecID? {
        guard mpegLength(bytes) != nil else { return nil }
        return [AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP1][Int(bytes[1] >> 1 & 3) - 1]
    }

    /// The size of an ADTS frame (ISO 14496-3, 1.A.3); `nil` if there is none.
    package static func adtsLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count >= 7, bytes[0] == 0xFF, bytes[1] & 0xF6 == 0xF0 else { return nil }
        let length = Int(bytes[3] & 3) << 11 | Int(bytes[4]) << 3 | Int(bytes[5] >> 5)
        return length >= 7 ? length : nil
    }

    /// Whether an ADTS frame contains several raw data blocks.
    static func holdsSeveralBlocks(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        adtsLength(bytes) == bytes.count && bytes[6] & 3 != 0
    }

    /// MPEG-1, -2 and -2.5 audio (ISO 11172-3, 13818-3).
    private static func mpegLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return nil }
        let (version, layer) = (Int(bytes[1] >> 3 & 3), 4 - Int(bytes[1] >> 1 & 3))
        let (rateIndex, frequencyIndex) = (Int(bytes[2] >> 4), Int(bytes[2] >> 2 & 3))
        guard version != 1, layer != 4, (1...14).contains(rateIndex), frequencyIndex != 3 else { return nil }
        let isFirst = version == 3
        let table = isFirst ? firstRates[layer - 1] : secondRates[layer == 1 ? 0 : 1]
        let frequency = [44_100, 48_000, 32_000][frequencyIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        let padding = Int(bytes[2] >> 1 & 1)
        if layer == 1 { return (12_000 * table[rateIndex - 1] / frequency + padding) * 4 }
        return (layer == 3 && !isFirst ? 72_000 : 144_000) * table[rateIndex - 1] / frequency + padding
    }

    /// kbit/s of MPEG-1 layers I to III.
    private static let firstRates = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    ]

    /// kbit/s of MPEG-2 layer I, and of layers II and III.
    private static let secondRates = [
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    /// A core frame of DTS Coherent Acoustics in 16-bit words (ETSI TS 102 114, 5.3.1).
    private static func coherent(_ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, samples: Int)? {
        guard bytes.count >= 10, bytes.starts(with: [0x7F, 0xFE, 0x80, 0x01]), bytes[4] >> 2 == 63 else { return nil }
        let blocks = Int(bytes[4] & 1) << 6 | Int(bytes[5] >> 2)
        let length = Int(bytes[5] & 3) << 12 | Int(bytes[6]) << 4 | Int(bytes[7] >> 4)
        return length >= 95 && blocks >= 5 ? (length + 1, 32 * (blocks + 1)) : nil
    }

    /// AC-3 and E-AC-3 (ETSI TS 102 366), `av_ac3_parse_header`.
    private static func dolbyLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var (identifier, length): (UInt8, UInt16) = (0, 0)
        guard av_ac3_parse_header(bytes.baseAddress, bytes.count, &identifier, &length) == 0 else { return nil }
        return Int(length)
    }

    /// The size of an AC-3 or E-AC-3 frame with the substreams that follow it; `nil` if there is none.
    package static func dolbyUnitLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard var end = dolbyLength(bytes), end <= bytes.count else { return nil }
        while end < bytes.count, let next = dolbyLength(UnsafeBufferPointer(rebasing: bytes[end...])),
            next <= bytes.count - end
        {
            end += next
        }
        return end
    }
}
