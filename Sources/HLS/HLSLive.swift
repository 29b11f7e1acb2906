import Bytes
import Playlists

/// A live media playlist and the position that was read up to.
struct HLSLive {
    private var media: HLSMedia
    /// The sequence number of the next segment to read.
    private var next: Int64
    private var unchanged = 0

    /// Starts three segments before the end, as players do, or at the first segment if the playlist keeps all of them.
    init(_ media: HLSMedia) {
        self.media = media
        let first = media.keepsAll ? 0 : max(media.segments.count - 3, 0)
        next = media.segments.isEmpty ? -1 : media.segments[first].sequence
    }

    var isEnded: Bool { media.isEnded }

    /// Seconds until the next reload (RFC 8216 section 6.3.4).
    var delay: Double {
        let target = max(media.targetDuration, 1)
        return unchanged == 0 ? target : target / 2
    }

    /// Returns the new segments.
    mutating func take() -> ArraySlice<HLSMedia.Segment> {
        if next < 0, let first = media.segments.first { next = first.sequence }
        let new = media.segments.drop { $0.sequence < next }
        unchanged = new.isEmpty ? unchanged + 1 : 0
        if let last = new.last { next = last.sequence + 1 }
        return new
    }

    /// Replaces the playlist by its reloaded version.
    mutating func update(_ media: HLSMedia) throws(MediaError) {
        guard unchanged < Self.maxUnchanged else {
            throw MediaError(
                .truncated, HLSPlaylist.operation,
                "the live HLS playlist has had no new segment in \(Self.maxUnchanged) requests")
        }
        self.media = media
        guard let first = media.segments.first, first.sequence > next, next >= 0 else { return }
        throw HLSPlaylist.failure("skipped to segment \(first.sequence) before segment \(next) was read")
    }

    private static let maxUnchanged = 12
}
