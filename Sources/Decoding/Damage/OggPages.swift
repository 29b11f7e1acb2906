import Bytes
import Containers
import Libav

/// The numbers that Ogg gives the pages of each stream (RFC 3533 section 6).
struct OggPages {
    /// Whether pages were missing since this was last asked for.
    private var isBroken = false
    private var last: Int64 = -1

    /// Looks at the page that a packet comes of, where it is another than the last one's.
    mutating func read(_ packet: borrowing Packet, _ source: any ByteSource) throws(MediaError) {
        guard packet.offset >= 0, packet.offset != last else { return }
        if try Self.isBroken(source, from: last, to: packet.offset) { isBroken = true }
        last = packet.offset
    }

    /// Whether pages were missing; asked where time jumps, which may be a few packets behind the gap.
    @discardableResult
    mutating func takeBreak() -> Bool {
        defer { isBroken = false }
        return isBroken
    }

    /// Samples behind a time that a broken last page would have held, by the count that it still tells.
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

    /// Whether pages of one stream are missing between two offsets at which pages begin.
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
