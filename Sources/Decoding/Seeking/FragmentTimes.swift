package import Bytes
import Containers

/// Adjusts the times of concatenated MPEG-4 fragments, which restart after a discontinuity.
///
/// libav sorts fragments by time, and drops samples of those whose times already occurred.
package struct FragmentTimes {
    /// The end of each track's last fragment, in units of the track's timescale.
    private var ends: [Int64: Int64] = [:]
    /// The offset that is added to a track's times.
    private var shifts: [Int64: Int64] = [:]
    /// The default sample duration by track.
    private var defaults: [Int64: Int64] = [:]

    /// Without default durations; `readSetup` reads them.
    package init() {}

    /// Reads the default sample durations from the initialization section.
    package mutating func readSetup(_ store: any RandomAccessOutput, _ range: Range<Int64>) throws {
        let bytes = SourceBytes(StoredSource(store))
        let section = Box(name: "", body: range.lowerBound, end: range.upperBound)
        guard let extends = try section.first("moov", bytes)?.first("mvex", bytes) else { return }
        for box in try extends.children(bytes) where box.name == "trex" {
            guard let track = try bytes.big(at: box.body + 4, 4), let length = try bytes.big(at: box.body + 12, 4)
            else { continue }
            defaults[track] = length
        }
    }

    /// Shifts the times of a segment's fragments to the end of the last ones if they restart. Disables indexes that describe
    /// only the segment.
    package mutating func join(_ store: any RandomAccessOutput, _ range: Range<Int64>, isDiscontinuous: Bool) throws {
        let bytes = SourceBytes(StoredSource(store))
        var isNew = isDiscontinuous
        for box in try Box(name: "", body: range.lowerBound, end: range.upperBound).children(bytes) {
            if ["sidx", "mfra"].contains(box.name) { try Self.blank(box, store) }
            guard box.name == "moof" else { continue }
            for fragment in try box.children(bytes) where fragment.name == "traf" {
                try join(fragment, bytes, store, isNew: isNew)
            }
            isNew = false
        }
    }

    private mutating func join(_ fragment: Box, _ bytes: SourceBytes, _ store: any RandomAccessOutput, isNew: Bool)
        throws
    {
        let boxes = try fragment.children(bytes)
        guard let header = boxes.first(where: { $0.name == "tfhd" }),
            let time = boxes.first(where: { $0.name == "tfdt" }),
            let track = try bytes.big(at: header.body + 4, 4), let version = try bytes.big(at: time.body, 1)
        else { return }
        let width = version == 1 ? 8 : 4
        guard let start = try bytes.big(at: time.body + 4, width), (0...Int64(1) << 55).contains(start) else { return }
        if isNew, let end = ends[track] { shifts[track] = end - start }
        let moved = start + (shifts[track] ?? 0)
        if moved != start, moved >= 0, width == 8 || moved <= Int64(UInt32.max) {
            let text = (0..<width).map { UInt8(truncatingIfNeeded: moved >> ((width - 1 - $0) * 8)) }
            try text.withUnsafeBytes { try store.write($0, at: time.body + 4) }
        }
        var length: Int64 = 0
        let usual = try Self.usualDuration(header, bytes) ?? defaults[track] ?? 0
        for run in boxes where run.name == "trun" { length = length.adding(try Self.duration(run, bytes, usual)) }
        // The sum of malicious durations may be any number.
        let end = moved.addingReportingOverflow(length)
        ends[track] = end.overflow || !(0...Int64(1) << 56).contains(end.partialValue) ? nil : end.partialValue
    }

    /// The default sample duration in a fragment's header; `nil` if it has none.
    private static func usualDuration(_ header: Box, _ bytes: SourceBytes) throws -> Int64? {
        guard let flags = try bytes.big(at: header.body + 1, 3), flags & 0x8 != 0 else { return nil }
        return try bytes.big(at: header.body + 8 + (flags & 0x1 != 0 ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0), 4)
    }

    /// The duration of a run of samples.
    private static func duration(_ run: Box, _ bytes: SourceBytes, _ usual: Int64) throws -> Int64 {
        guard let flags = try bytes.big(at: run.body + 1, 3), let count = try bytes.big(at: run.body + 4, 4) else {
            return 0
        }
        guard flags & 0x100 != 0 else { return Int64(clamping: Int128(count) * Int128(usual)) }
        let first = run.body + 8 + (flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0)
        let step = Int64([0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 }) * 4
        guard count * step <= run.end - first, let table = try bytes.read(at: first, Int(count * step)) else {
            return 0
        }
        var sum: Int64 = 0
        for index in 0..<Int(count) {
            let entry = table[(index * Int(step))...].prefix(4)
            sum += entry.reduce(0) { $0 << 8 | Int64($1) }
        }
        return sum
    }

    private static func blank(_ box: Box, _ store: any RandomAccessOutput) throws {
        // A 64-bit size is stored between the name and the body.
        let isShort = try SourceBytes(StoredSource(store)).text(at: box.body - 4, 4) == box.name
        try Array("free".utf8).withUnsafeBytes { try store.write($0, at: box.body - (isShort ? 4 : 12)) }
    }
}
