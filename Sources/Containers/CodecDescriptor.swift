/// All special properties of a codec in sources. A new codec has to specify each of them.
package struct CodecDescriptor: Sendable {
    /// Whether every frame has a checksum, which libav verifies only on request.
    package let isChecksummed: Bool
    /// How much must be decoded before the samples are bit-identical to those of a decode from the start.
    package let convergence: Convergence
    /// Whether the stream carries dynamic range compression for players to apply.
    package let compressesRange: Bool
    /// What libav needs of earlier packets to decode one.
    package let dependence: PacketDependence
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

    /// What libav needs of earlier packets to decode one.
    package enum PacketDependence: Sendable {
        /// Nothing, if the samples are integers. DSD in WavPack is decoded to floats, with a filter.
        case none
        /// The bytes of main data that the bit reservoir of MPEG layer III may hold, and the synthesis of a few frames.
        case bitReservoir
        /// It was not measured.
        case unknown
    }
}

extension CodecID {
    /// The properties of the codec.
    package var descriptor: CodecDescriptor {
        switch self {
        case .alac:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, dependence: .none,
                countsGranules: false)
        case .mp3:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, dependence: .bitReservoir,
                countsGranules: false)
        case .aac, .dts, .imaWave, .microsoft, .mp1, .mp2, .pcm:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, dependence: .unknown,
                countsGranules: false)
        case .ac3, .eac3:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: true, dependence: .unknown,
                countsGranules: false)
        case .ape, .tak:
            CodecDescriptor(
                isChecksummed: true, convergence: .never, compressesRange: false, dependence: .unknown,
                countsGranules: false)
        case .flac:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: false, dependence: .none,
                countsGranules: true)
        case .opus, .vorbis:
            CodecDescriptor(
                isChecksummed: false, convergence: .frames, compressesRange: false, dependence: .unknown,
                countsGranules: true)
        case .trueAudio, .wavPack:
            CodecDescriptor(
                isChecksummed: true, convergence: .frames, compressesRange: false, dependence: .none,
                countsGranules: false)
        case .g722, .g726, .gsm, .gsmMicrosoft:
            CodecDescriptor(
                isChecksummed: false, convergence: .rounding, compressesRange: false, dependence: .unknown,
                countsGranules: false)
        case .speex:
            CodecDescriptor(
                isChecksummed: false, convergence: .rounding, compressesRange: false, dependence: .unknown,
                countsGranules: true)
        case .adpcm, .dsd, .generic:
            CodecDescriptor(
                isChecksummed: false, convergence: .never, compressesRange: false, dependence: .unknown,
                countsGranules: false)
        }
    }
}
