/// An audio codec in sources.
package enum CodecID: CaseIterable, Sendable {
    case aac, ac3, alac, ape, dts, eac3, flac, mp1, mp2, mp3, opus, tak, trueAudio, vorbis, wavPack
    // Speech and telephony.
    case g722, g726, gsm, gsmMicrosoft, imaWave, microsoft, speex
    // Families of codecs that only unpack numbers.
    case adpcm, dsd, pcm
    /// Codecs that libav decodes without special treatment.
    case generic

    /// The codec of a libav codec name; `nil` if it is not supported.
    package init?(name: String) {
        guard let codec = Self.byName[name] ?? Self.families.first(where: { name.hasPrefix($0.key) })?.value else {
            return nil
        }
        self = codec
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { codec in codec.names.map { ($0, codec) } })
}
