package import Bytes
package import MediaTypes

/// The edit list of an MPEG-4 or QuickTime track (ISO 14496-12, 8.6.6): which parts of the media are heard, in which order.
package struct MovieEdits {
    /// A part of the presentation.
    package struct Edit {
        /// Its first time in the media; `nil` if it is empty.
        package let media: MediaTime?
        /// Its length; `nil` up to the media's end, as fragmented files have it.
        package let length: MediaTime?
    }

    /// The edits from the first one that plays something.
    package let edits: [Edit]
    /// The sum of the empty edits before them.
    package let delay: MediaTime
    /// The length of the media in the track's header; zero in fragmented files.
    package let mediaLength: MediaTime
    private let movieScale: Int64
    private let mediaScale: Int64

    /// A file with more edits than any editor writes is read without them.
    private static let maxEdits: Int64 = 4096
    /// Units that can be added and converted without overflow.
    private static let plausible = 0...Int64(1) << 40

    /// Reads the track's headers; `nil` without valid ones. A track without an edit list has no edits.
    fileprivate init?(_ track: Box, movieScale: Int64, _ bytes: SourceBytes) throws {
        guard let header = try track.first("mdia", bytes)?.first("mdhd", bytes),
            let media = try Self.scaleAndLength(header, bytes)
        else { return nil }
        (self.movieScale, mediaScale) = (movieScale, media.scale)
        // The length is all ones if it is unknown.
        mediaLength = MediaTime(
            value: Self.plausible.contains(media.length) ? media.length : 0, timescale: mediaScale)
        guard let list = try track.first("edts", bytes)?.first("elst", bytes) else {
            (edits, delay) = ([], .zero)
            return
        }
        var (found, late): ([Edit], Int64) = ([], 0)
        for entry in try Self.entries(list, bytes) {
            guard Self.plausible.contains(entry.length), entry.media == -1 || Self.plausible.contains(entry.media)
            else { return nil }
            if entry.media < 0, found.isEmpty {
                late += entry.length
                continue
            }
            found.append(
                Edit(
                    media: entry.media < 0 ? nil : MediaTime(value: entry.media, timescale: mediaScale),
                    length: entry.length > 0 ? MediaTime(value: entry.length, timescale: movieScale) : nil))
        }
        (edits, delay) = (found, MediaTime(value: late, timescale: movieScale))
    }

    /// The lengths in units of the movie, and the times in units of the media; -1 for an empty edit.
    private static func entries(_ list: Box, _ bytes: SourceBytes) throws -> [(length: Int64, media: Int64)] {
        guard let version = try bytes.big(at: list.body, 1), let count = try bytes.big(at: list.body + 4, 4),
            (0...maxEdits).contains(count)
        else { return [] }
        let width = version > 0 ? 8 : 4
        var entries: [(Int64, Int64)] = []
        for place in (0..<count).map({ list.body + 8 + $0 * Int64(2 * width + 4) }) {
            guard let length = try bytes.big(at: place, width),
                let media = try bytes.big(at: place + Int64(width), width)
            else { return [] }
            entries.append((length, version > 0 ? media : Int64(Int32(truncatingIfNeeded: media))))
        }
        return entries
    }

    /// The time of the media at which the only edit begins; `nil` if there is none, or if there are several.
    package var start: MediaTime? { edits.count == 1 ? edits[0].media : nil }

    /// The length of all edits in samples, or of the whole media without edits; `nil` if it is not declared.
    ///
    /// Many writers round the length of an edit to a movie's timescale of milliseconds. `frameLength` is that of a packet.
    package func length(rate: Int, frameLength: Int64) -> Int64? {
        guard edits.count <= 1 else {
            let sum = edits.reduce(MediaTime.zero) { sum, edit in edit.length.flatMap { sum.adding($0) } ?? sum }
            return sum.nearestSample(rate: rate)
        }
        let rest = mediaLength.nearestSample(rate: rate) - (start ?? .zero).nearestSample(rate: rate)
        guard mediaLength.value == 0 || rest > 0 else { return nil }
        guard let length = edits.first?.length else { return rest > 0 ? rest : nil }
        let declared = length.nearestSample(rate: rate)
        guard rest > 0 else { return declared }
        return isExact(rest, declared, rate, frameLength) ? rest : min(declared, rest)
    }

    /// Whether the edit ends where the media does, and its units are only too coarse. An incomplete last frame shows that the
    /// media's length is exact to the sample.
    private func isExact(_ rest: Int64, _ declared: Int64, _ rate: Int, _ frameLength: Int64) -> Bool {
        guard mediaScale == Int64(rate), frameLength > 1 else { return false }
        return mediaLength.nearestSample(rate: rate) % frameLength != 0
            && rest > declared && rest - declared <= mediaScale / movieScale + 1
    }

    /// The timescale and length of an `mvhd` or `mdhd` box (ISO 14496-12).
    fileprivate static func scaleAndLength(_ box: Box, _ bytes: SourceBytes) throws -> (scale: Int64, length: Int64)? {
        guard let version = try bytes.big(at: box.body, 1) else { return nil }
        let times = box.body + (version == 0 ? 12 : 20)
        guard let scale = try bytes.big(at: times, 4), scale > 0,
            let length = try bytes.big(at: times + 4, version == 0 ? 4 : 8)
        else { return nil }
        return (scale, length)
    }
}

/// The tracks of an MPEG-4 or QuickTime file, found once.
package struct MovieTracks {
    private let tracks: [Box]
    private let scale: Int64
    private let bytes: SourceBytes

    /// Reads the movie's boxes; `nil` without valid ones.
    package init?(_ source: any ByteSource) throws {
        bytes = SourceBytes(source)
        let file = Box(name: "", body: 0, end: source.length)
        guard let movie = try file.first("moov", bytes), let header = try movie.first("mvhd", bytes),
            let times = try MovieEdits.scaleAndLength(header, bytes)
        else { return nil }
        scale = times.scale
        tracks = try movie.children(bytes).filter { $0.name == "trak" }
    }

    /// The edits of a track by its number from 0; `nil` without valid headers.
    package func edits(of track: Int) throws -> MovieEdits? {
        guard tracks.indices.contains(track) else { return nil }
        return try MovieEdits(tracks[track], movieScale: scale, bytes)
    }
}
