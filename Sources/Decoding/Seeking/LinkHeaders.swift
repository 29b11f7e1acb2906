import CLibav

/// Recognizes the headers of later links of FLAC and Speex in Ogg, which arrive as packets, and which decoders refuse or take for sound.
struct LinkHeaders {
    private var isInFlac = false
    /// The headers of Speex behind the first one of a link.
    private var restOfSpeex = 0

    /// Whether the next packet of a track is such a header.
    mutating func include(_ packet: UnsafeBufferPointer<UInt8>, _ codec: AVCodecID) -> Bool {
        switch codec {
        case AV_CODEC_ID_FLAC:
            // A link's first packet begins with a mark, and its frames begin with a byte of ones (RFC 9639, section 10.1).
            if packet.starts(with: Self.flacMark) {
                isInFlac = true
            } else if packet.first == 0xFF {
                isInFlac = false
            }
            return isInFlac
        case AV_CODEC_ID_SPEEX:
            if packet.count >= Self.speexBytes, packet.starts(with: "Speex   ".utf8) {
                // The comment, and as many as the header declares in a number of four bytes.
                let extra = packet[Self.extraHeaders..<Self.extraHeaders + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
                restOfSpeex = 1 + min(extra, Self.maxExtraHeaders)
                return true
            }
            defer { restOfSpeex = max(restOfSpeex - 1, 0) }
            return restOfSpeex > 0
        default: return false
        }
    }

    /// The STREAMINFO of a later FLAC link, if a packet is its first header; otherwise `nil`.
    static func flacProperties(_ packet: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard packet.starts(with: flacMark), packet.count >= flacProperties.upperBound else { return nil }
        return UnsafeBufferPointer(rebasing: packet[flacProperties])
    }

    private static let flacMark = [0x7F] + Array("FLAC".utf8)
    /// STREAMINFO, behind `fLaC` and the header of its block (RFC 9639, section 10.1).
    private static let flacProperties = 17..<51

    /// The size of the first header, and the place of a field in it (`SpeexHeader` in speex_header.h).
    private static let (speexBytes, extraHeaders) = (80, 68)
    private static let maxExtraHeaders = 16
}
