package import Bytes
import CLibav
import Containers
import Decoding
import Demuxing
import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// What a probe reports about a source.
package struct Probe: Codable, Hashable, Sendable {
    /// libav's name of the container.
    package var format: String
    /// The audio's duration, if the source declares it.
    package var duration: MediaTime?
    /// Seconds, for display.
    package var seconds: Double?
    /// Whether the duration is an estimate from the bit rate.
    package var estimated: Bool
    /// Bits a second, over the whole file.
    package var bitRate: Int?
    /// The size of the file.
    package var bytes: Int64
    /// The audio tracks.
    package var tracks: [Track]
    /// Tag values by the names in a job.
    package var tags: [String: [String]]
    /// The pictures in the tags, without their data.
    package var pictures: [Picture]
    /// The chapters by start time.
    package var chapters: [Chapter]
    /// Chapters that were omitted because the report would have been too long.
    package var chaptersLeftOut: Int?
    /// Tags that were omitted because the report would have been too long.
    package var tagsLeftOut: Int?

    /// An embedded picture, such as the cover.
    package struct Picture: Codable, Hashable, Sendable {
        /// The ID3 picture type, such as 3 for the front cover.
        package var type: Int
        /// The MIME type, such as `image/jpeg`.
        package var mediaType: String
        /// The picture's description in the tag.
        package var description: String
        /// The size of the picture's data.
        package var bytes: Int

        enum CodingKeys: String, CodingKey {
            case type, description, bytes
            case mediaType = "media_type"
        }
    }

    /// A chapter; times in seconds.
    package struct Chapter: Codable, Hashable, Sendable {
        /// Seconds from the start of the source.
        package var start: Double
        /// Seconds from the start of the source.
        package var end: Double
        /// The chapter's title; empty if it has none.
        package var title: String
    }

    /// An audio track.
    package struct Track: Codable, Hashable, Sendable {
        /// The number among the audio tracks, from 1, as in a job's `track`.
        package var number: Int
        /// The stream's index in the container, from 0.
        package var index: Int
        /// libav's name of the codec.
        package var codec: String
        /// Hz.
        package var sampleRate: Int
        /// The number of channels.
        package var channels: Int
        /// libav's name of the layout, such as `5.1(side)`.
        package var channelLayout: String
        /// libav's name of the decoder's sample format.
        package var sampleFormat: String?
        /// Significant bits of a sample, if the codec declares them.
        package var bits: Int?
        /// Bits a second, if the container or the codec declares it.
        package var bitRate: Int?
        /// The track's duration, if the container declares it.
        package var duration: MediaTime?
        /// The duration in seconds, for display.
        package var seconds: Double?
        /// The language code in the container.
        package var language: String?
        /// The track's title in the container.
        package var title: String?
        /// Whether the container marks the track as the default.
        package var isDefault: Bool
        /// For the default track, if requested.
        package var loudness: Loudness?
        /// The silences of the default track, if requested.
        package var silences: [Silence]?
        /// Silences beyond the 500 that are listed.
        package var silencesLeftOut: Int?

        enum CodingKeys: String, CodingKey {
            case number, index, title, codec, channels, bits, duration, seconds, language, loudness, silences
            case sampleRate = "sample_rate"
            case channelLayout = "channel_layout"
            case sampleFormat = "sample_format"
            case bitRate = "bit_rate"
            case isDefault = "default"
            case silencesLeftOut = "silences_left_out"
        }
    }

    enum CodingKeys: String, CodingKey {
        case format, duration, seconds, estimated, bytes, tracks, tags, pictures, chapters
        case bitRate = "bit_rate"
        case chaptersLeftOut = "chapters_left_out"
        case tagsLeftOut = "tags_left_out"
    }
}

extension Probe {
    /// Opens a source and probes it.
    package static func of(
        _ source: any ByteSource, charset: String? = nil, limits: SourceLimits = .init(), stop: CancellationFlag
    ) throws(MediaError) -> Probe {
        let demuxer = try Demuxer.open(source, stop: stop)
        try limits.check(demuxer)
        let best = try demuxer.selectAudio()
        var tracks: [Track] = []
        for track in demuxer.tracks {
            tracks.append(try Track(track, demuxer.stream(track.index), number: tracks.count + 1))
            // In Ogg, the stream's title is the song's title.
            if case .oggComment = demuxer.descriptor.tags { tracks[tracks.count - 1].title = nil }
        }
        let place = tracks.firstIndex { $0.index == best.index }
        if let place, let length = try TrimmedDuration.of(best, source, demuxer) { tracks[place].duration = length }
        for place in tracks.indices { tracks[place].seconds = tracks[place].duration?.seconds }
        let duration =
            place.flatMap { tracks[$0].duration }
            ?? demuxer.duration.map { MediaTime(value: $0, timescale: 1_000_000) }
        let bitRate = demuxer.context.pointee.bit_rate
        var metadata = try TagReader.read(source, demuxer, best, charset: charset, limits: limits)
        metadata.spellLyrics()
        metadata.endChapters(at: duration.map { $0.sampleIndex(rate: max(best.rate, 1)) }, rate: best.rate)
        return Probe(
            format: demuxer.formatName, duration: duration, seconds: duration?.seconds,
            estimated: demuxer.durationIsEstimate, bitRate: bitRate > 0 ? Int(bitRate) : nil,
            bytes: source.isEndless ? 0 : source.length,
            tracks: tracks, tags: metadata.shownTexts, pictures: metadata.pictures.map { Picture($0) },
            chapters: metadata.chapters.map { Chapter($0) })
    }
}

extension Probe {
    /// Removes the second half of the chapters, or else the longest tags, of that many bytes at least; returns `false` if there
    /// are no chapters and no tags.
    package mutating func shorten(by bytes: Int) -> Bool {
        if !chapters.isEmpty {
            let count = (chapters.count + 1) / 2
            chapters.removeLast(count)
            chaptersLeftOut = (chaptersLeftOut ?? 0) + count
            return true
        }
        guard !tags.isEmpty else { return false }
        let sizes = tags.map { name, values in (name: name, size: values.reduce(0) { $0 + $1.utf8.count }) }
        var removed = 0
        for (name, size) in sizes.sorted(by: { ($0.size, $0.name) > ($1.size, $1.name) }) {
            tags[name] = nil
            tagsLeftOut = (tagsLeftOut ?? 0) + 1
            removed += name.utf8.count + size
            if removed >= bytes { break }
        }
        return true
    }
}

extension Probe.Picture {
    fileprivate init(_ picture: Metadata.Picture) {
        self.init(
            type: picture.kind, mediaType: picture.mediaType, description: picture.description,
            bytes: picture.bytes.count)
    }
}

extension Probe.Chapter {
    fileprivate init(_ chapter: Metadata.Chapter) {
        func seconds(_ time: Int64) -> Double { Double((time + 500_000) / 1_000_000) / 1000 }
        self.init(start: seconds(chapter.start), end: seconds(chapter.end), title: chapter.title)
    }
}

extension Probe.Track {
    fileprivate init(
        _ track: AudioTrack, _ stream: UnsafeMutablePointer<AVStream>, number: Int
    ) throws(MediaError) {
        let parameters = stream.pointee.codecpar!
        let format = av_get_sample_fmt_name(AVSampleFormat(parameters.pointee.format))
        let bits = max(parameters.pointee.bits_per_raw_sample, av_get_exact_bits_per_sample(track.codec))
        let label = TrackLabel(stream)
        self.init(
            number: number, index: track.index, codec: track.codecName, sampleRate: track.rate,
            channels: track.channels,
            channelLayout: try ChannelLayout(naming: &parameters.pointee.ch_layout).description,
            sampleFormat: format.map { String(cString: $0) }, bits: bits > 0 ? Int(bits) : nil,
            bitRate: parameters.pointee.bit_rate > 0 ? Int(parameters.pointee.bit_rate) : nil,
            duration: track.duration.flatMap {
                // A header may contain any number.
                let (value, isTooLong) = $0.multipliedReportingOverflow(by: Int64(track.timeBase.num))
                return isTooLong ? nil : MediaTime(value: value, timescale: Int64(track.timeBase.den))
            },
            language: label.language, title: label.title,
            isDefault: stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0)
    }
}
