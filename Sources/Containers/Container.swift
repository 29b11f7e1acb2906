/// The kind of a file or stream that contains audio. Each kind with special properties has a case.
package enum Container: CaseIterable, Sendable {
    // Raw frames.
    case ac3, adts, dts, dtsHD, eac3, gsm, loas, mlp, mp3, trueHD
    // Music.
    case ape, flac, musepack, ogg, trueAudio, wavPack
    // Uncompressed audio, and a few fixed-rate codecs.
    case aiff, caf, sun, wave, wave64
    // Video files, of which only the audio is read.
    case asf, avi, flash, matroska, mpegProgram, mpegTransport, mp4, mxf, nut, realMedia
    // Formats of games and tools whose headers declare the end of the data.
    case adx, apm, ast, kvag, sox
    /// Containers that libav reads completely, without special treatment.
    case generic

    /// The container of a libav demuxer; `nil` if it is not supported.
    package init?(demuxer name: String) {
        guard let container = Self.byDemuxer[name] else { return nil }
        self = container
    }

    /// libav's names of all supported demuxers.
    package static var demuxers: some Collection<String> { byDemuxer.keys }

    private static let byDemuxer = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { container in container.demuxers.map { ($0, container) } })
}
