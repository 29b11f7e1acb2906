package import Bytes
import CLibav
import Containers
package import Libav
import MediaTypes

/// A part of a track's presentation, in decoded samples.
package enum MediaPart: Equatable {
    case silence(Int64)
    /// From a sample of the media, counted from the first one that the decoder returns.
    case media(from: Int64, count: Int64)
}

/// What an MPEG-4 track declares of its audible samples, by its edit list and the tag `iTunSMPB`.
package struct MovieLength {
    /// Decoded samples before the first audible one.
    package let lead: Int64
    /// The number of audible samples; `nil` if it is not declared, as in fragmented files.
    package let audible: Int64?
    /// The parts, if they are several.
    package let parts: [MediaPart]?

    /// A source that cannot be read declares nothing here; the decoder reports the error.
    package init(_ source: any ByteSource, _ demuxer: borrowing Demuxer, _ track: AudioTrack) {
        let stream = demuxer.stream(track.index)
        let edits = source.isEndless ? nil : try? MovieTracks(source)?.edits(of: track.index)
        // libav puts the start of the first edit at time zero, behind empty edits.
        let late = edits?.delay.nearestSample(rate: Int(track.timeBase.den)) ?? 0
        let first = avformat_index_get_entry(stream, 0)?.pointee.timestamp ?? 0
        let unheard = (0...Int64(1) << 40).contains(late - first) ? late - first : 0
        let delay = MediaTime(value: unheard, timescale: Int64(max(track.timeBase.den, 1)))
        let isFragmented = stream.pointee.nb_frames == 0
        if let edits, edits.edits.count > 1, !isFragmented {
            let parts = Self.parts(edits, demuxer, track)
            (self.parts, lead) = (parts, 0)
            audible = parts.reduce(0) { $0.adding($1.count) }
            return
        }
        parts = nil
        let media = edits?.mediaLength
        let tag = media.flatMap { media in
            demuxer.gaplessTag?.times(media: media, scale: Int64(track.timeBase.den), rate: track.rate)
        }
        lead = demuxer.undecoded(unheard > 0 ? delay : tag?.delay ?? delay, track)
        // The length of a fragmented file grows while it is read.
        guard !isFragmented, track.rate > 0 else {
            audible = nil
            return
        }
        let frameLength = Int64(stream.pointee.codecpar.pointee.frame_size)
        audible =
            tag?.length.nearestSample(rate: track.rate) ?? edits?.length(rate: track.rate, frameLength: frameLength)
            ?? track.duration.flatMap { $0 > 0 ? track.samples($0) : nil }
    }

    /// The edits in samples. Where one ends, the next one begins, whatever their units are.
    private static func parts(_ edits: MovieEdits, _ demuxer: borrowing Demuxer, _ track: AudioTrack) -> [MediaPart] {
        var (time, end): (MediaTime, Int64) = (.zero, 0)
        var parts: [MediaPart] = []
        for edit in edits.edits {
            let start = edit.media?.nearestSample(rate: track.rate) ?? 0
            var count = max(edits.mediaLength.nearestSample(rate: track.rate) - start, 0)
            if let length = edit.length {
                time = time.adding(length) ?? time
                count = time.nearestSample(rate: track.rate) - end
            }
            end = end.adding(count)
            parts.append(edit.media.map { .media(from: demuxer.undecoded($0, track), count: count) } ?? .silence(count))
        }
        return parts
    }
}

extension MediaPart {
    /// Its length in samples.
    package var count: Int64 {
        switch self {
        case .silence(let count): count
        case .media(_, let count): count
        }
    }
}
