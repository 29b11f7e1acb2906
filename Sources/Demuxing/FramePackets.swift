import Bytes
import CLibav
import Libav

/// Makes one frame a packet of raw MPEG audio, AC-3 or ADTS, without the tags between frames, and marks delay and padding.
///
/// libav's parser makes one packet of a tag and the frame behind it, or of AC-3 before it, of which decoders drop all. It also takes
/// bytes of a tag for a frame, which may end behind the next one's start, and of two tags before a frame of ADTS it skips that frame
/// too. libav marks the padding by times that such packets put wrong.
final class FramePackets {
    private let source: any ByteSource
    private let stream: Int
    private let codec: AVCodecID
    /// Whether substreams may follow a frame in its packet.
    private var isDolby: Bool { FrameHeader.isDolby(codec) }
    /// The offsets of ADTS packets.
    private var offsets: TransportOffsets?
    /// The delay and padding that the file declares.
    let padding: LayerPadding?
    /// Where the next frame begins: behind the last one, or behind a tag; negative if unknown.
    private var next: Int64 = -1
    /// The start and the end of libav's last packet. Frames before its end that no packet begins with are read from the source.
    private var (start, limit): (Int64, Int64) = (-1, -1)
    /// Samples of all frames before the next one; `nil` if unknown.
    private var position: Int64? = 0
    /// The time of the next packet, and the last one's duration, in units of the time base.
    private var time: Int64?
    private var duration: Int64 = 0
    private var samples: Int64 = 0
    /// Whether another recording follows the padding; `nil` if not yet known.
    private var isJoined: Bool?
    /// The number of places with tags.
    private(set) var tags = 0
    /// Whether bytes of ADTS that are neither frames nor tags, which libav skips, are before the next packet.
    private var isBehindGap = false
    private var lastBytes = 0

    /// A Lyrics3 tag must be in this window to be found, and some more, so that small tags do not cost a read each.
    private static let window: Int64 = 65_536
    private static let leastWindow = 8192

    init(_ source: any ByteSource, _ stream: UnsafeMutablePointer<AVStream>, _ padding: LayerPadding?) {
        (self.source, self.padding) = (source, padding)
        (self.stream, codec) = (Int(stream.pointee.index), stream.pointee.codecpar.pointee.codec_id)
        offsets = codec == AV_CODEC_ID_AAC ? TransportOffsets() : nil
    }

    /// Continues at the offset of a frame; `passed` samples were not read.
    func move(to offset: Int64, passing passed: Int64) {
        (next, limit, time, isBehindGap) = (offset, -1, nil, false)
        offsets?.move(to: offset)
        position = position.map { $0 + passed }
    }

    /// Continues at an unknown position.
    func forget() { (next, limit, time, position, isBehindGap) = (-1, -1, nil, nil, false) }

    /// Cuts what is before the frame off libav's packet; returns `false` if there is no frame in it, or if others are before it.
    /// `position` is where libav reads next.
    func accept(_ packet: borrowing Packet, position: Int64) throws(MediaError) -> Bool {
        guard packet.streamIndex == stream else { return true }
        if !source.isEndless { offsets?.correct(packet, position: position, source) }
        let (start, bytes) = (packet.offset, packet.bytes)
        let end = start + Int64(bytes.count)
        guard start >= 0 else {
            try finish(packet)
            return true
        }
        (self.start, limit) = (start, end)
        if offsets != nil, !source.isEndless, next >= 0, start > next {
            if try isSkipped(next) { return false }
            isBehindGap = isGap(start - next)
        }
        let from = max(start, next)
        guard from < end else { return false }
        let unit = unitLength(bytes)
        guard from > start || unit != bytes.count else {
            next = end
            try finish(packet)
            return true
        }
        if isDolby, from == start, let unit, try hasTags(at: start + Int64(unit)) {
            packet.shorten(to: unit)
            next = start + Int64(unit)
            try finish(packet)
            return true
        }
        let place = try endOfTags(from, UnsafeBufferPointer(rebasing: bytes.dropFirst(Int(from - start))))
        next = place
        guard place < end else { return false }
        let rest = UnsafeBufferPointer(rebasing: bytes.dropFirst(Int(place - start)))
        // Frames that begin elsewhere than libav's packets are read from the source.
        guard place == start || source.isEndless || unitLength(rest) == rest.count else { return false }
        packet.dropFirst(Int(place - start))
        next = end
        try finish(packet)
        return true
    }

    /// Passes bytes that libav could not read up to an offset; returns `false` if libav skipped no tag and no frame among them.
    func skip(to position: Int64) throws(MediaError) -> Bool {
        guard offsets != nil, !source.isEndless, next >= 0, next < position, try isSkipped(next) else { return false }
        (start, limit) = (position, position)
        return true
    }

    /// Reads a frame that begins inside libav's last packet; returns `false` if there is none.
    func frame(into packet: borrowing Packet) throws(MediaError) -> Bool {
        guard next >= 0, next < limit else { return false }
        do {
            let tagsBehindNext = tags
            let place = try endOfTags(next, UnsafeBufferPointer(start: nil, count: 0))
            guard let end = try endOfUnit(place), let bytes = try SourceBytes(source).read(at: place, Int(end - place))
            else {
                guard next < start else {
                    next = limit
                    return false
                }
                isBehindGap = isGap(start - next)
                next = start
                return try frame(into: packet)
            }
            if offsets != nil, tagsBehindNext == tags { isBehindGap = isGap(place - next) }
            try packet.fill(bytes, stream: stream, offset: place, duration: duration)
            next = end
        } catch let error as MediaError { throw error } catch { throw .unreadable(error) }
        try finish(packet)
        return true
    }

    /// The bytes of a packet's frame, with the substreams behind it; `nil` if the packet does not begin with a frame.
    private func unitLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        isDolby ? FrameHeader.dolbyUnitLength(bytes) : length(bytes)
    }

    private func length(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        codec == AV_CODEC_ID_AAC ? FrameHeader.adtsLength(bytes) : FrameHeader.length(codec, bytes)
    }

    /// The end of the frame that begins at an offset, and of the substreams behind it; `nil` if no frame begins there.
    private func endOfUnit(_ start: Int64) throws -> Int64? {
        var (end, frames): (Int64?, Int) = (nil, 0)
        while frames <= Self.maxDependent, case let place = end ?? start, let head = try head(place),
            end == nil || FrameHeader.isDependent(codec, head), let length = length(head)
        {
            (end, frames) = (place + Int64(length), frames + 1)
        }
        return end
    }

    /// The most dependent substreams of a frame (ETSI TS 102 366, annex E).
    private static let maxDependent = 8

    /// The first bytes of a frame; `nil` at the end.
    private func head(_ offset: Int64) throws -> [UInt8]? {
        let count = min(Self.maxHeaderBytes, source.length - offset)
        return count > 0 ? try SourceBytes(source).read(at: offset, Int(count)) : nil
    }

    /// The length of the frame at an offset; `nil` if none begins there.
    private func length(at offset: Int64) throws -> Int? { try head(offset).flatMap { length($0) } }

    private func length(_ head: [UInt8]) -> Int? { head.withUnsafeBufferPointer { length($0) } }

    /// More bytes than a header has.
    private static let maxHeaderBytes: Int64 = 64

    /// Whether libav skipped a frame at an offset, or behind tags there.
    private func isSkipped(_ offset: Int64) throws(MediaError) -> Bool {
        if try hasTags(at: offset) { return true }
        do { return try length(at: offset) != nil && isFrameOrEnd(offset) } catch { throw .unreadable(error) }
    }

    /// Whether tags begin at an offset and do not end the source.
    private func hasTags(at offset: Int64) throws(MediaError) -> Bool {
        let count = tags
        defer { tags = count }
        let end = try endOfTags(offset, UnsafeBufferPointer(start: nil, count: 0))
        return end > offset && end < source.length
    }

    /// The offset behind the tags at an offset, and the zeros around them. `own` are the packet's bytes from there on. A tag that ends
    /// neither at a frame nor at the end, such as one that was cut, is not trusted, because its size could hide the rest.
    private func endOfTags(_ start: Int64, _ own: UnsafeBufferPointer<UInt8>) throws(MediaError) -> Int64 {
        var place = start
        var hasTag = false
        defer { if hasTag { tags += 1 } }
        // The past of an endless stream cannot be read.
        guard !source.isEndless else { return place + Int64(Self.skip(own, &hasTag, isEnd: true).length) }
        do {
            while true {
                let count = Int(min(Self.window, max(source.length - place, 0)))
                guard let bytes = try SourceBytes(source).read(at: place, count) else { return place }
                let isEnd = place + Int64(count) >= source.length
                let (length, isDone) = bytes.withUnsafeBufferPointer { Self.skip($0, &hasTag, isEnd: isEnd) }
                place += Int64(length)
                guard isDone || isEnd else { continue }
                if hasTag, try !isFrameOrEnd(place) { (place, hasTag) = (start, false) }
                return try frameBehindJunk(place) ?? place
            }
        } catch { throw .unreadable(error) }
    }

    /// The offset of the next frame of ADTS, if bytes that are neither a frame nor a tag are before it, behind which libav skips it.
    private func frameBehindJunk(_ start: Int64) throws -> Int64? {
        let count = min(Self.junk, source.length - start)
        guard offsets != nil, count > 0, try length(at: start) == nil,
            let bytes = try SourceBytes(source).read(at: start, Int(count))
        else { return nil }
        for place in bytes.indices where bytes[place] == 0xFF {
            let offset = start + Int64(place)
            if try length(at: offset) != nil, try isFrameOrEnd(offset) { return offset }
        }
        return nil
    }

    /// As many bytes before a frame are skipped. A frame of ADTS has at most 8191.
    private static let junk: Int64 = 8192

    /// Whether the source ends at an offset, or a frame begins there that another one or the end follows.
    private func isFrameOrEnd(_ offset: Int64) throws -> Bool {
        var place = offset
        for _ in 0..<2 where place < source.length {
            guard let length = try length(at: place) else {
                // A tag may follow the first frame.
                let more = try SourceBytes(source).read(at: place, Int(min(32, source.length - place))) ?? []
                return more.withUnsafeBufferPointer { place > offset && FrameTag.length($0[...]) != nil }
            }
            place += Int64(length)
        }
        return offset <= source.length
    }

    /// Bytes of tags, and of zeros before or behind one or before a frame; whether something else follows them in the window.
    private static func skip(
        _ bytes: UnsafeBufferPointer<UInt8>, _ hasTag: inout Bool, isEnd: Bool
    ) -> (length: Int, isDone: Bool) {
        var rest = bytes[...]
        while true {
            let found = rest.drop { $0 == 0 }
            guard let length = FrameTag.length(found) else {
                if !isEnd, found.count < leastWindow, rest.startIndex > 0 { return (rest.startIndex, false) }
                return (hasTag || found.starts(with: [0xFF]) ? found.startIndex : rest.startIndex, true)
            }
            hasTag = true
            let end = found.startIndex + length
            guard end < bytes.count else { return (end, false) }
            rest = bytes[end...]
        }
    }

    /// Whether another recording follows the padding, as in joined files, whose joints libav leaves as they are.
    private func isFollowed(behind samples: Int64) throws(MediaError) -> Bool {
        if let isJoined { return isJoined }
        let count = tags
        defer { tags = count }
        var (place, rest) = (next, samples)
        var isFrame = false
        do {
            repeat {
                place = try endOfTags(place, UnsafeBufferPointer(start: nil, count: 0))
                let length = try length(at: place)
                isFrame = length != nil && place + Int64(length ?? 0) <= source.length
                place += Int64(length ?? 0)
                rest -= self.samples
            } while isFrame && rest >= 0
        } catch let error as MediaError { throw error } catch { throw .unreadable(error) }
        isJoined = isFrame
        return isFrame
    }

    /// Whether so many bytes may have been a frame. A few are no loss.
    private func isGap(_ bytes: Int64) -> Bool { bytes > Int64(lastBytes) / 2 }

    /// Sets the time of a packet, and marks the samples that are not the source's.
    private func finish(_ packet: borrowing Packet) throws(MediaError) {
        if isBehindGap { packet.markGap() }
        isBehindGap = false
        lastBytes = packet.bytes.count
        if let time { (packet.pointer.pointee.pts, packet.pointer.pointee.dts) = (time, time) }
        time = packet.timestamp.map { $0 + packet.duration }
        duration = packet.duration
        if !packet.hasNoSideData { packet.forgetTrim() }
        if let length = FrameHeader.samples(codec, packet.bytes, whole: true) { samples = Int64(length) }
        guard let start = position else { return }
        let end = start + samples
        position = end
        let skip = start == 0 ? padding?.delay ?? 0 : 0
        var discard: Int64 = 0
        if let range = padding?.padding, end >= range.lowerBound, start < range.upperBound,
            try !isFollowed(behind: range.upperBound - end)
        {
            discard = min(end - range.lowerBound, samples)
        }
        if skip > 0 || discard > 0 { try packet.trim(skip: skip, discard: discard) }
    }
}
