import CLibav
package import Lifecycle
package import MediaTypes

/// What a source is.
package struct Probe: Codable, Hashable, Sendable {
    /// libav's name of the container.
    package var format: String
    /// The audio's length, if the source tells.
    package var duration: MediaTime?
    /// Seconds, for display.
    package var seconds: Double?
    /// Whether the duration is only a guess from the bit rate.
    package var estimated: Bool
    /// Bits a second, over the whole file.
    package var bitRate: Int?
    package var bytes: Int64
    /// The audio tracks.
    package var tracks: [Track]
    package var tags: [String: String]
    package var chapters: Int

    /// An audio track.
    package struct Track: Codable, Hashable, Sendable {
        /// The stream's place in the container.
        package var index: Int
        package var codec: String
        /// Hz.
        package var sampleRate: Int
        package var channels: Int
        package var channelLayout: String
        /// How the decoder gives samples, as libav names it.
        package var sampleFormat: String?
        /// Bits of a sample that carry something, where the codec tells.
        package var bits: Int?
        package var bitRate: Int?
        package var duration: MediaTime?
        package var language: String?
        /// Whether a player takes it by default.
        package var isDefault: Bool

        enum CodingKeys: String, CodingKey {
            case index, codec, channels, bits, duration, language
            case sampleRate = "sample_rate"
            case channelLayout = "channel_layout"
            case sampleFormat = "sample_format"
            case bitRate = "bit_rate"
            case isDefault = "default"
        }
    }

    enum CodingKeys: String, CodingKey {
        case format, duration, seconds, estimated, bytes, tracks, tags, chapters
        case bitRate = "bit_rate"
    }
}

extension Probe {
    /// Opens a source and says what it is.
    package static func of(_ source: any ByteSource, stop: StopFlag) throws(MediaError) -> Probe {
        let demuxer = try Demuxer.open(source, stop: stop)
        let best = try demuxer.selectAudio()
        var tracks: [Track] = []
        for track in demuxer.tracks { tracks.append(Track(track, demuxer.stream(track.index))) }
        let duration =
            tracks.first { $0.index == best.index }?.duration
            ?? demuxer.duration.map { MediaTime(value: $0, timescale: 1_000_000) }
        let bitRate = demuxer.context.pointee.bit_rate
        return Probe(
            format: demuxer.formatName, duration: duration, seconds: duration?.seconds,
            estimated: demuxer.durationIsEstimate, bitRate: bitRate > 0 ? Int(bitRate) : nil, bytes: source.length,
            tracks: tracks, tags: Tags.of(demuxer, best), chapters: Int(demuxer.context.pointee.nb_chapters))
    }
}

extension Probe.Track {
    fileprivate init(_ track: AudioTrack, _ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar!
        let format = av_get_sample_fmt_name(AVSampleFormat(parameters.pointee.format))
        let bits = max(parameters.pointee.bits_per_raw_sample, av_get_exact_bits_per_sample(track.codec))
        let language = av_dict_get(stream.pointee.metadata, "language", nil, 0)
        self.init(
            index: track.index, codec: track.codecName, sampleRate: track.rate, channels: track.channels,
            channelLayout: ChannelLayout(naming: &parameters.pointee.ch_layout).description,
            sampleFormat: format.map { String(cString: $0) }, bits: bits > 0 ? Int(bits) : nil,
            bitRate: parameters.pointee.bit_rate > 0 ? Int(parameters.pointee.bit_rate) : nil,
            duration: track.duration.flatMap {
                // A header may hold any number.
                let (value, isTooLong) = $0.multipliedReportingOverflow(by: Int64(track.timeBase.num))
                return isTooLong ? nil : MediaTime(value: value, timescale: Int64(track.timeBase.den))
            },
            language: language.map { String(cString: $0.pointee.value) },
            isDefault: stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0)
    }
}
