/// The samples that a codec adds at both ends of the audio, and how containers declare them.
package struct CodecEdges: Sendable {
    /// The padding that the encoder needs.
    package let padding: Padding
    /// Which containers declare the padding of encoded audio.
    package let declared: Declaration
    /// Whether we declare the padding of a packet, if the container can store it.
    ///
    /// The encoders of MP3 and Opus do it themselves. For AC-3, libav's reader applies it to the previous packet.
    package let areMarked: Bool
    /// Which ends of a copy Matroska and Ogg can declare. libavformat writes CodecDelay only for Opus.
    package let copied: Ends

    /// The ends of a copy.
    package enum Ends: Sendable {
        case neither, last, both
    }

    /// The silence that the encoder needs before and after the audio, so that no sample of it is lost.
    package enum Padding: Sendable {
        /// None. The samples that a decoder adds first are the encoder's delay.
        case delay
        /// One frame at each end: the decoder drops the first frame, and needs the next frame to complete one.
        case wholeFrames
        /// Its delay at the end: the encoder does not flush it.
        case delayBehind
        /// Its delay and the decoder's at the end; the latter in samples, by the sample rate in Hz.
        case delayBehindAndLate([Int: Int])

        /// Samples by which the decoder's output is late, beside the delay of the encoder.
        package func late(rate: Int) -> Int {
            if case .delayBehindAndLate(let times) = self { times[rate] ?? 0 } else { 0 }
        }
    }

    /// Which containers declare padding, out of those that can.
    package enum Declaration: Sendable {
        case nowhere
        case elsewhereThanInMatroska
        /// All, but Matroska only at the end.
        case lastInMatroska
        case everywhere
    }

    /// A codec whose padding, if any, is declared by the usual means.
    static let none = CodecEdges(
        padding: .delay, declared: .elsewhereThanInMatroska, areMarked: false, copied: .neither)
}

/// How a codec's packets appear in a file.
package struct CodecPackets: Sendable {
    /// Whether a file contains the packets as they were written.
    package let areKept: Bool
    /// Whether containers declare their number of samples.
    package let isLengthDeclared: Bool
    /// How the number of samples in a packet is known.
    package let length: Length
    /// The sample rate of the decoder's output in Hz; `nil` if it is the encoder's.
    package let decodedRate: Int?
    /// The samples by which a reader may miscount a copy.
    package let copySlack: Int64

    /// The number of samples in a packet.
    package enum Length: Sendable {
        /// The encoder's frame size, if it is fixed.
        case frame
        /// It depends on the codec's setup header and on the previous packet.
        case setup
    }

    static let plain = CodecPackets(
        areKept: true, isLengthDeclared: true, length: .frame, decodedRate: nil, copySlack: 0)
    /// Demuxers divide the audio into other packets.
    static let regrouped = CodecPackets(
        areKept: false, isLengthDeclared: true, length: .frame, decodedRate: nil, copySlack: 0)
}

/// The metadata that depends on the codec.
package struct CodecWords: Sendable {
    /// The unit of gain tags.
    package let loudness: Loudness
    /// Whether Apple's players read delay and padding from the tag `iTunSMPB`.
    package let usesITunSMPB: Bool
    /// Whether its header contains a checksum of all samples.
    package let holdsSum: Bool
    /// `nil` if segments cannot contain it.
    package let streaming: Streaming?

    /// The unit of gain tags.
    package enum Loudness: Sendable {
        /// In dB, relative to -18 LUFS.
        case replayGain
        /// In 1/256 dB, relative to -23 LUFS (RFC 7845).
        case r128
    }

    /// How segments of HLS contain the codec.
    package struct Streaming: Sendable {
        /// The codec's name by RFC 6381 and its registry.
        package let parameter: String
        /// The kinds of segments that can contain it.
        package let containers: [SegmentSettings.Container]
    }

    static let none = CodecWords(loudness: .replayGain, usesITunSMPB: false, holdsSum: false, streaming: nil)
}
