/// A codec of sound in sources.
package enum CodecID: CaseIterable, Sendable {
    case aac, ac3, alac, ape, dts, eac3, flac, mp1, mp2, mp3, opus, tak, trueAudio, vorbis, wavPack
    // Of speech and telephony.
    case g722, g726, gsm, gsmMicrosoft, imaWave, microsoft, speex
    // Families of which every member only unpacks numbers.
    case adpcm, dsd, pcm
    /// Codecs of which libav knows all that there is to know.
    case generic

    /// The codec that libav calls so; nothing if it is not decoded.
    package init?(name: String) {
        guard let codec = Self.byName[name] ?? Self.families.first(where: { name.hasPrefix($0.key) })?.value else {
            return nil
        }
        self = codec
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { codec in codec.names.map { ($0, codec) } })
}
