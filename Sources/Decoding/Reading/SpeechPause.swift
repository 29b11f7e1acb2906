import CLibav

/// Frames of AMR in which the speaker pauses. libav makes no comfort noise, and refuses them.
enum SpeechPause {
    /// The samples of a packet that has only frames of comfort noise or without data; `nil` if it has others (RFC 4867,
    /// section 5.3; 3GPP TS 26.101 and TS 26.201, table 1a).
    static func samples(_ codec: AVCodecID, _ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let (sizes, samples): ([UInt8: Int], Int)
        switch codec {
        case AV_CODEC_ID_AMR_NB: (sizes, samples) = ([8: 5, 15: 0], 160)
        case AV_CODEC_ID_AMR_WB: (sizes, samples) = ([9: 5, 14: 0, 15: 0], 320)
        default: return nil
        }
        var (place, count) = (0, 0)
        while place < bytes.count {
            guard let size = sizes[bytes[place] >> 3 & 15] else { return nil }
            place += 1 + size
            count += samples
        }
        return place == bytes.count && count > 0 ? count : nil
    }
}
