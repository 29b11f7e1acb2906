/// A kind of file or stream that holds sound, one for each with particulars of its own.
package enum Container: CaseIterable, Sendable {
    // Bare frames.
    case ac3, adts, dts, dtsHD, eac3, gsm, loas, mlp, mp3, trueHD
    // Music.
    case ape, flac, musepack, ogg, trueAudio, wavPack
    // Uncompressed sound, and a few codecs of fixed rates.
    case aiff, caf, sun, wave, wave64
    // Films, whose sound is read.
    case asf, avi, flash, matroska, mpegProgram, mpegTransport, mp4, mxf, nut
    // Of games and tools, which tell where they end.
    case adx, apm, ast, kvag, sox
    /// Containers of which libav knows all that there is to know.
    case generic

    /// The container that libav calls so; nothing if sources in it are not read.
    package init?(demuxer name: String) {
        guard let container = Self.byDemuxer[name] else { return nil }
        self = container
    }

    /// libav's names of all containers that are read.
    package static var demuxers: some Collection<String> { byDemuxer.keys }

    private static let byDemuxer = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { container in container.demuxers.map { ($0, container) } })
}
