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
            guard last >= 0, let serial = try Self.page(source, last)?.serial,
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
            guard last >= 0, next > last, let left = try page(source, last), let right = try page(source, next) else {
                return false
            }
            return left.serial == right.serial && right.number > left.number + 1
        } catch {
            throw .unreadable(error)
        }
    }

    private static func page(_ source: any ByteSource, _ offset: Int64) throws -> (serial: Int64, number: Int64)? {
        let bytes = SourceBytes(source)
        guard try bytes.text(at: offset, 4) == "OggS", let serial = try bytes.little(at: offset + 14, 4),
            let number = try bytes.little(at: offset + 18, 4)
        else { return nil }
        return (serial, number)
    }
}
