package import Bytes

/// The edit of an MPEG-4 or QuickTime track. Many writers round its length to the movie's timescale of milliseconds.
package struct MovieEdit {
    private let movieScale: Int64
    private let mediaScale: Int64
    private let mediaLength: Int64
    /// The start of the edit in ticks of the media.
    package let start: Int64
    private let length: Int64
    /// Whether empty edits precede it.
    package let beginsLate: Bool

    /// Reads the track's headers; `nil` unless the track has a single edit, optionally after empty ones.
    package init?(_ source: any ByteSource, track: Int) throws {
        let bytes = SourceBytes(source)
        let file = Box(name: "", body: 0, end: source.length)
        guard let movie = try file.first("moov", bytes), let movieHeader = try movie.first("mvhd", bytes),
            case let tracks = try movie.children(bytes).filter({ $0.name == "trak" }), tracks.indices.contains(track),
            let list = try tracks[track].first("edts", bytes)?.first("elst", bytes),
            let header = try tracks[track].first("mdia", bytes)?.first("mdhd", bytes),
            let media = try Self.scaleAndLength(header, bytes),
            let movieTimes = try Self.scaleAndLength(movieHeader, bytes),
            let count = try bytes.big(at: list.body + 4, 4), (1...16).contains(count),
            let isLong = try bytes.big(at: list.body, 1).map({ $0 > 0 })
        else { return nil }
        let width = isLong ? 8 : 4
        let last = list.body + 8 + (count - 1) * Int64(2 * width + 4)
        for empty in stride(from: list.body + 8, to: last, by: 2 * width + 4) {
            let media = try bytes.big(at: empty + Int64(width), width)
            guard media == (isLong ? -1 : 0xFFFF_FFFF) else { return nil }
        }
        guard let length = try bytes.big(at: last, width), let start = try bytes.big(at: last + Int64(width), width)
        else { return nil }
        beginsLate = count > 1
        (movieScale, (mediaScale, mediaLength)) = (movieTimes.scale, media)
        (self.start, self.length) = (start, length)
    }

    /// Reads the edit of a file's only track if it starts and ends within the same packet, for which libav returns no audio.
    package init?(withinPacketOf source: any ByteSource) throws {
        let bytes = SourceBytes(source)
        guard let edit = try MovieEdit(source, track: 0), !edit.beginsLate,
            let movie = try Box(name: "", body: 0, end: source.length).first("moov", bytes),
            case let tracks = try movie.children(bytes).filter({ $0.name == "trak" }), tracks.count == 1,
            let table = try tracks[0].first("mdia", bytes)?.first("minf", bytes)?.first("stbl", bytes),
            let times = try table.first("stts", bytes), let packet = try bytes.big(at: times.body + 12, 4),
            let length = edit.declaredLength(rate: Int(edit.mediaScale)), packet > 0, edit.start > 0,
            edit.start % packet != 0, edit.start / packet == (edit.start.adding(length) - 1) / packet
        else { return nil }
        self = edit
    }

    /// The edit's length in the media's timescale.
    package var mediaSamples: Int64? { declaredLength(rate: Int(mediaScale)) }

    /// Samples from the edit's start to the end of the media, if the edit ends at that point and its ticks are only too coarse.
    ///
    /// An incomplete last frame shows that the media's length is exact to the sample.
    package func exactLength(rate: Int, frameLength: Int64) -> Int64? {
        let plausible = 1...Int64(1) << 40
        guard mediaScale == Int64(rate), plausible.contains(movieScale), plausible.contains(mediaLength),
            plausible.contains(length), (0..<mediaLength).contains(start), frameLength > 1,
            mediaLength % frameLength != 0
        else { return nil }
        let rest = mediaLength - start
        let declared = Int64(clamping: Int128(length) * Int128(mediaScale) / Int128(movieScale))
        return rest > declared && rest - declared <= mediaScale / movieScale + 1 ? rest : nil
    }

    /// The edit's declared length in samples.
    package func declaredLength(rate: Int) -> Int64? {
        let plausible = 1...Int64(1) << 40
        guard plausible.contains(movieScale), plausible.contains(length), rate > 0 else { return nil }
        return Int64(clamping: (Int128(length) * Int128(rate) + Int128(movieScale) - 1) / Int128(movieScale))
    }

    /// The timescale and length of an `mvhd` or `mdhd` box (ISO 14496-12).
    private static func scaleAndLength(_ box: Box, _ bytes: SourceBytes) throws -> (scale: Int64, length: Int64)? {
        guard let version = try bytes.big(at: box.body, 1) else { return nil }
        let times = box.body + (version == 0 ? 12 : 20)
        guard let scale = try bytes.big(at: times, 4), let length = try bytes.big(at: times + 4, version == 0 ? 4 : 8)
        else { return nil }
        return (scale, length)
    }
}

/// A box of an ISO base media file.
package struct Box {
    /// The box type, four characters; empty for a range that is searched as if it were a box.
    package let name: String
    /// The offset of its contents.
    package let body: Int64
    /// The offset of the next box, after the contents.
    package let end: Int64

    package init(name: String, body: Int64, end: Int64) {
        self.name = name
        self.body = body
        self.end = end
    }

    /// The first child box of a name.
    package func first(_ name: String, _ bytes: SourceBytes) throws -> Box? {
        try children(bytes).first { $0.name == name }
    }

    /// The offsets of all child boxes of a type.
    package func places(of wanted: String, _ bytes: SourceBytes) throws -> [Int64] {
        var places: [Int64] = []
        var offset = body
        while offset < end, let short = try bytes.big(at: offset, 4), let name = try bytes.text(at: offset + 4, 4) {
            let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short == 0 ? end - offset : short
            guard size >= 8, size <= end - offset else { break }
            if name == wanted { places.append(offset) }
            offset += size
        }
        return places
    }

    /// The child boxes, up to the first invalid one.
    package func children(_ bytes: SourceBytes) throws -> [Box] {
        var boxes: [Box] = []
        var offset = body
        while boxes.count < 10_000, offset < end, let short = try bytes.big(at: offset, 4),
            let name = try bytes.text(at: offset + 4, 4)
        {
            let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short == 0 ? end - offset : short
            guard size >= 8, size <= end - offset else { break }
            boxes.append(Box(name: name, body: offset + (short == 1 ? 16 : 8), end: offset + size))
            offset += size
        }
        return boxes
    }
}
