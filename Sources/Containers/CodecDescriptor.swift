/// All that is particular to a codec of sources: a new one has to say every bit of it.
package struct CodecDescriptor: Sendable {
    /// Whether every frame carries a checksum that libav looks at only on request.
    package let isChecksummed: Bool
    /// After how much decoding its samples are, bit for bit, those of a decode from the start.
    package let settling: Settling
    /// Whether a stream says by how much players should lower what is loud and raise what is soft.
    package let compressesRange: Bool
    /// Whether its granule positions in Ogg count samples from the first to the last page (RFC 7845, Vorbis I A.2).
    package let countsGranules: Bool

    /// After how much decoding samples are those of a decode from the start.
    package enum Settling: Sendable {
        /// Never, or nobody measured.
        case never
        /// A few frames.
        case frames
        /// When the difference of a recursive filter is rounded away.
        case rounding
    }
}

extension CodecID {
    /// What is particular to the codec.
    package var descriptor: CodecDescriptor {
        switch self {
        case .aac, .alac, .dts, .imaWave, .microsoft, .mp1, .mp2, .mp3, .pcm:
            CodecDescriptor(isChecksummed: false, settling: .frames, compressesRange: false, countsGranules: false)
        case .ac3, .eac3:
            CodecDescriptor(isChecksummed: true, settling: .frames, compressesRange: true, countsGranules: false)
        case .ape, .tak:
            CodecDescriptor(isChecksummed: true, settling: .never, compressesRange: false, countsGranules: false)
        case .flac:
            CodecDescriptor(isChecksummed: true, settling: .frames, compressesRange: false, countsGranules: true)
        case .opus, .vorbis:
            CodecDescriptor(isChecksummed: false, settling: .frames, compressesRange: false, countsGranules: true)
        case .trueAudio, .wavPack:
            CodecDescriptor(isChecksummed: true, settling: .frames, compressesRange: false, countsGranules: false)
        case .g722, .g726, .gsm, .gsmMicrosoft:
            CodecDescriptor(isChecksummed: false, settling: .rounding, compressesRange: false, countsGranules: false)
        case .speex:
            CodecDescriptor(isChecksummed: false, settling: .rounding, compressesRange: false, countsGranules: true)
        case .adpcm, .dsd, .generic:
            CodecDescriptor(isChecksummed: false, settling: .never, compressesRange: false, countsGranules: false)
        }
    }
}
