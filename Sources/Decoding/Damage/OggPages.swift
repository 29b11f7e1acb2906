import Bytes
import Containers
import Libav

/// Checks the sequence numbers of Ogg pages (RFC 3533 section 6).
struct OggPages {
    /// Whether pages were missing since the last call of `takeBreak`.
    private var isBroken = false
    private var last: Int64 = -1
    /// The bytes of missing pages since the last call of `takeSkipped`.
    private var skipped: Int64 = 0

    /// Checks the page of a packet, if it is not the last packet's page.
    mutating func read(_ packet: borrowing Packet, _ source: any ByteSource) throws(MediaError) {
        guard packet.offset >= 0, packet.offset != last else { return }
        if let bytes = try Self.skipped(source, from: last, to: packet.offset) {
            isBroken = true
            skipped += bytes
        }
        last = packet.offset
    }

    /// Returns and resets whether pages were missing. It is called if the timestamp jumps, which may be a few packets after the
    /// gap.
    @discardableResult
    mutating func takeBreak() -> Bool {
        defer { isBroken = false }
        return isBroken
    }

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
                let count = final.granule, count > end, count - end < most
            else { return 0 }
            return count - end
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
