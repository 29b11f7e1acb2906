import Bytes
import Containers
import Libav

/// Checks the sequence numbers of Ogg pages (RFC 3533 section 6).
struct OggPages {
    /// Whether pages were missing since the last call of `takeBreak`.
    private var isBroken = false
    private var last: Int64 = -1

    /// Checks the page of a packet, if it is not the last packet's page.
    mutating func read(_ packet: borrowing Packet, _ source: any ByteSource) throws(MediaError) {
        guard packet.offset >= 0, packet.offset != last else { return }
        if try Self.isBroken(source, from: last, to: packet.offset) { isBroken = true }
        last = packet.offset
    }

    /// Returns and resets whether pages were missing. It is called if the timestamp jumps, which may be a few packets after the
    /// gap.
    @discardableResult
    mutating func takeBreak() -> Bool {
        defer { isBroken = false }
        return isBroken
    }

    /// The samples after a time that a broken last page would have held, by its granule position.
    func missing(behind end: Int64, _ source: any ByteSource, most: Int64) throws(MediaError) -> Int64 {
        do {
            guard last >= 0, let serial = try OggPage(SourceBytes(source), at: last)?.serial,
                let count = try OggEnd.lastCount(source, serial: serial), count > end, count - end < most
            else { return 0 }
            return count - end
        } catch {
            throw .unreadable(error)
        }
    }

    /// Whether pages of a stream are missing between two page offsets.
    private static func isBroken(_ source: any ByteSource, from last: Int64, to next: Int64) throws(MediaError) -> Bool
    {
        do {
            let bytes = SourceBytes(source)
            guard last >= 0, next > last, let left = try OggPage(bytes, at: last),
                let right = try OggPage(bytes, at: next)
            else { return false }
            return left.serial == right.serial && Int64(right.number) > Int64(left.number) + 1
        } catch {
            throw .unreadable(error)
        }
    }
}
