/// All special properties of a codec in sources. A new codec has to specify each of them.
package struct CodecDescriptor: Sendable {
    /// Whether every frame has a checksum, which libav verifies only on request.
    package let isChecksummed: Bool
    /// How much must be decoded before the samples are bit-identical to those of a decode from the start.
    package let convergence: Convergence
    /// Whether the stream carries dynamic range compression for players to apply.
    package let compressesRange: Bool
    /// Whether libav decodes each packet without state of earlier ones, if the samples are integers. It decodes DSD in WavPack
    /// to floats, with a filter.
    package let hasIndependentPackets: Bool
    /// Whether its granule positions in Ogg count samples from the first to the last page (RFC 7845, Vorbis I A.2).
    package let countsGranules: Bool

    /// How much must be decoded before the samples equal those of a decode from the start.
    package enum Convergence: Sendable {
        /// Never, or not measured.
        case never
        /// A few frames.
        case frames
        /// Until the difference in a recursive filter is rounded away.
        case rounding
    }
}

extension CodecID {
    /// The properties of the codec.
    package var descriptor: CodecDescriptor {
        switch self {
        case .alac:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, hasIndependentPackets: true,
                countsGranules: false)
        case .aac, .dts, .imaWave, .microsoft, .mp1, .mp2, .mp3, .pcm:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, hasIndependentPackets: false,
                countsGranules: false)
        case .ac3, .eac3:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: true, hasIndependentPackets: false,
                countsGranules: false)
        case .ape, .tak:
            CodecDescriptor(
                isChecksummed: true, convergence: .never, compressesRange: false, hasIndependentPackets: false,
                countsGranules: false)
        case .flac:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: false, hasIndependentPackets: true,
                countsGranules: true)
        case .opus, .vorbis:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, hasIndependentPackets: false,
                countsGranules: true)
        case .trueAudio, .wavPack:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: false, hasIndependentPackets: true,
                countsGranules: false)
        case .g722, .g726, .gsm, .gsmMicrosoft:
            CodecDescriptor(
                isChecksummed: false, convergence: .rounding, compressesRange: false, hasIndependentPackets: false,
                countsGranules: false)
        case .speex:
            CodecDescriptor(
                isChecksummed: false, convergence: .rounding, compressesRange: false, hasIndependentPackets: false,
                countsGranules: true)
        case .adpcm, .dsd, .generic:
            CodecDescriptor(
                isChecksummed: false, convergence: .never, compressesRange: false, hasIndependentPackets: false,
                countsGranules: false)
        }
    }
}
