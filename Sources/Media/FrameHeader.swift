import CLibav

/// Headers of frames that tell their own length, for decoders that make do with less.
enum FrameHeader {
    /// Bytes that the frame should have; nothing for codecs that do not tell.
    static func length(_ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        switch codec {
        case AV_CODEC_ID_MP3, AV_CODEC_ID_MP2, AV_CODEC_ID_MP1: mpegLength(bytes)
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: dolbyLength(bytes)
        default: nil
        }
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

    /// AC-3 and E-AC-3 (ETSI TS 102 366), `av_ac3_parse_header`.
    private static func dolbyLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var (identifier, length): (UInt8, UInt16) = (0, 0)
        guard av_ac3_parse_header(bytes.baseAddress, bytes.count, &identifier, &length) == 0 else { return nil }
        return Int(length)
    }
}
