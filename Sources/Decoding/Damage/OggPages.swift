package import Bytes
package import CLibav
import Containers
import Demuxing
package import Libav

/// Checks the sequence numbers of Ogg pages (RFC 3533 section 6).
package struct OggPages {
    package init() {}

    /// Whether pages were missing since the last call of `takeBreak`.
    private var isBroken = false
    private var last: Int64 = -1
    /// The bytes of missing pages since the last call of `takeSkipped`.
    private var skipped: Int64 = 0
    /// The granule position of time 0, if libav counts from the first packet that it finds.
    private var untimed: Int64 = 0
    /// The longest time in samples with which is computed, and that of a page: 255 of the longest packets.
    private static let (longest, longestPage) = (Int64(1) << 55, Int64(255 * 65_535))
    /// Whether no packet was read yet, and nothing was skipped on purpose.
    private var isAtStart = true

    /// Checks the page of a packet, if it is not the last packet's page. Returns the time at which the sound began, if its first pages
    /// are missing. Of FLAC, libav counts times from the first packet that it finds, and frames tell their place.
    package mutating func read(
        _ packet: borrowing Packet, _ source: any ByteSource, flac: UnsafeMutablePointer<AVStream>?
    ) throws(MediaError) -> Int64? {
        guard packet.offset >= 0, packet.offset != last else { return nil }
        defer { (last, isAtStart) = (packet.offset, false) }
        if let bytes = try Self.skipped(source, from: last, to: packet.offset) {
            isBroken = true
            skipped += bytes
        }
        guard isAtStart, !source.isEndless, let time = packet.timestamp, time > 0 || flac != nil else { return nil }
        do {
            let bytes = SourceBytes(source)
            guard let page = try OggPage(bytes, at: packet.offset), let size = page.size,
                let lost = try OggWalk.soundBytes(bytes, of: page.serial, before: packet.offset)
            else { return nil }
            skipped += lost
            let place = flac.map { number(packet, $0) } ?? time
            guard (1...Self.longest).contains(place) else { return time }
            if flac != nil { untimed = place }
            // A recording may begin late, too. The bytes tell about how long the missing pages were.
            let span = min(max(page.granule ?? 0, place) - place, Self.longestPage)
            let length = Double(lost) * Double(span) / Double(size)
            return time - (Double(place) <= 8 * length ? place : Int64(length))
        } catch {
            throw .unreadable(error)
        }
    }

    /// The first sample of a FLAC frame by its number; 0 if that cannot be read.
    private func number(_ packet: borrowing Packet, _ stream: UnsafeMutablePointer<AVStream>) -> Int64 {
        FlacHeader(stream).flatMap { FlacNumbers.range(packet.bytes, $0)?.lowerBound } ?? 0
    }

    /// Returns and resets whether pages were missing. It is called if the timestamp jumps, which may be a few packets after the
    /// gap.
    mutating func takeBreak() -> Bool {
        defer { isBroken = false }
        return isBroken
    }

    /// Forgets what was found so far, because the source is continued elsewhere.
    mutating func restart() { (isBroken, isAtStart) = (false, false) }

    /// Returns and resets the bytes of missing pages.
    mutating func takeSkipped() -> Int64 {
        defer { skipped = 0 }
        return skipped
    }

    /// The samples between the end of the last frame and the granule position of the last page, if pages are missing: behind that frame, or
    /// before the last page, in which libav does not derive times from the granule position.
    func missing(behind end: Int64?, _ source: any ByteSource, most: Int64) throws(MediaError) -> Int64 {
        do {
            guard last >= 0, let end, let page = try OggPage(SourceBytes(source), at: last),
                let final = try OggEnd.lastPage(source, serial: page.serial), isBroken || final.number > page.number,
                let count = final.granule.map({ $0 &- untimed }), count > end, count &- end < most
            else { return 0 }
            return count &- end
        } catch {
            throw .unreadable(error)
        }
    }

    /// The bytes between two page offsets if pages of a stream are missing there; otherwise `nil`.
    private static func skipped(
        _ source: any ByteSource, from last: Int64, to next: Int64
    ) throws(MediaError) -> Int64? {
        do {
            let bytes = SourceBytes(source)
            guard last >= 0, next > last, let left = try OggPage(bytes, at: last),
                let right = try OggPage(bytes, at: next), left.serial == right.serial,
                Int64(right.number) > Int64(left.number) + 1
            else { return nil }
            return max(next - last - Int64(left.size ?? 0), 0)
        } catch {
            throw .unreadable(error)
        }
    }
}
