/// Builds MPEG-4 files from packets, with any timescale, edit list and tag (ISO 14496-12).
struct MovieFile {
    /// The encoded packets, in their order.
    var packets: [[UInt8]]
    /// The AudioSpecificConfig of the codec (ISO 14496-3, 1.6.2.1).
    var configuration: [UInt8]
    /// Hz in the sample entry.
    var rate: Int
    /// Samples of a packet at that rate.
    var packetSamples: Int
    /// Units of the media a second.
    var scale: Int
    /// The length in milliseconds, and the start in units of the media, of each edit; -1 is an empty edit.
    var edits: [(length: Int, start: Int)] = []
    /// The text of `iTunSMPB`.
    var tag: String?

    /// A file with an index.
    func whole() -> [UInt8] {
        let type = Self.box("ftyp", "M4A ".utf8 + Self.big(0, 4) + "M4A mp42isom".utf8)
        let sizes = packets.flatMap { Self.big($0.count, 4) }
        func movie(_ offset: Int) -> [UInt8] {
            let times = durations(0..<packets.count).flatMap { Self.big(1, 4) + Self.big($0, 4) }
            let tables =
                Self.full("stts", Self.big(packets.count, 4) + times)
                + Self.full("stsc", [1, 1, packets.count, 1].flatMap { Self.big($0, 4) })
                + Self.full("stsz", Self.big(0, 4) + Self.big(packets.count, 4) + sizes)
                + Self.full("stco", Self.big(1, 4) + Self.big(offset, 4))
            let length = durations(0..<packets.count).reduce(0, +)
            return Self.box("moov", header + track(length, tables) + user)
        }
        let offset = type.count + movie(0).count + 8
        return type + movie(offset) + Self.box("mdat", packets.flatMap { $0 })
    }

    /// A fragmented file, with as many packets in each fragment. `times` are the fragments' times, if they are not as usual.
    func fragmented(every count: Int = 20, times: [Int]? = nil) -> [UInt8] {
        let tables =
            Self.full("stts", Self.big(0, 4)) + Self.full("stsc", Self.big(0, 4))
            + Self.full("stsz", Self.big(0, 8)) + Self.full("stco", Self.big(0, 4))
        let extends = Self.box("mvex", Self.full("trex", [1, 1, 0, 0, 0].flatMap { Self.big($0, 4) }))
        var file =
            Self.box("ftyp", "iso5".utf8 + Self.big(0, 4) + "iso5iso6mp41".utf8)
            + Self.box("moov", header + track(0, tables) + extends + user)
        for (number, first) in stride(from: 0, to: packets.count, by: count).enumerated() {
            let range = first..<min(first + count, packets.count)
            let time = times?[number] ?? durations(0..<first).reduce(0, +)
            func fragment(_ offset: Int) -> [UInt8] {
                let samples = zip(durations(range), packets[range]).flatMap {
                    Self.big($0, 4) + Self.big($1.count, 4)
                }
                return Self.box(
                    "moof",
                    Self.full("mfhd", Self.big(number + 1, 4))
                        + Self.box(
                            "traf",
                            Self.full("tfhd", Self.big(1, 4), 0x20000)
                                + Self.full("tfdt", Self.big(time, 8), 1 << 24)
                                + Self.full("trun", Self.big(range.count, 4) + Self.big(offset, 4) + samples, 0x301)))
            }
            file += fragment(fragment(0).count + 8) + Self.box("mdat", packets[range].flatMap { $0 })
        }
        return file
    }

    /// Each packet ends at the unit that is nearest to its exact end.
    private func durations(_ range: Range<Int>) -> [Int] {
        range.map { ($0 + 1) * packetSamples * scale / rate - $0 * packetSamples * scale / rate }
    }

    private var header: [UInt8] {
        Self.full(
            "mvhd",
            Self.big(0, 8) + Self.big(1000, 4) + Self.big(0, 4) + Self.big(0x10000, 4) + Self.big(0x100, 2)
                + Self.big(0, 10) + Self.matrix + Self.big(0, 24) + Self.big(2, 4))
    }

    private func track(_ length: Int, _ tables: [UInt8]) -> [UInt8] {
        let list = edits.flatMap { Self.big($0.length, 4) + Self.big($0.start, 4) + Self.big(0x10000, 4) }
        let handler = Self.full("hdlr", Self.big(0, 4) + "soun".utf8 + Self.big(0, 13))
        let references = Self.box("dinf", Self.full("dref", Self.big(1, 4) + Self.full("url ", [], 1)))
        let entry = Self.box(
            "mp4a",
            Self.big(0, 6) + Self.big(1, 2) + Self.big(0, 8) + Self.big(1, 2) + Self.big(16, 2) + Self.big(0, 4)
                + Self.big(rate << 16, 4) + descriptors)
        let table = Self.box("stbl", Self.full("stsd", Self.big(1, 4) + entry) + tables)
        let media = Self.box(
            "mdia",
            Self.full("mdhd", Self.big(0, 8) + Self.big(scale, 4) + Self.big(length, 4) + Self.big(0x55C4, 2) + [0, 0])
                + handler + Self.box("minf", Self.full("smhd", Self.big(0, 4)) + references + table))
        let place = Self.full(
            "tkhd",
            Self.big(0, 8) + Self.big(1, 4) + Self.big(0, 4) + Self.big(0, 4) + Self.big(0, 12) + Self.big(0x100, 2)
                + [0, 0] + Self.matrix + Self.big(0, 8), 7)
        return Self.box(
            "trak",
            place
                + (edits.isEmpty ? [] : Self.box("edts", Self.full("elst", Self.big(edits.count, 4) + list))) + media)
    }

    private var descriptors: [UInt8] {
        func descriptor(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] { [kind, UInt8(body.count)] + body }
        let decoder = [0x40, 0x15, 0, 0, 0] + Self.big(64_000, 4) + Self.big(64_000, 4) + descriptor(5, configuration)
        return Self.full("esds", descriptor(3, [0, 1, 0] + descriptor(4, decoder) + descriptor(6, [2])))
    }

    private var user: [UInt8] {
        guard let tag else { return [] }
        let item = Self.box(
            "----",
            Self.full("mean", Array("com.apple.iTunes".utf8)) + Self.full("name", Array("iTunSMPB".utf8))
                + Self.box("data", Self.big(1, 4) + Self.big(0, 4) + tag.utf8))
        let handler = Self.full("hdlr", Self.big(0, 4) + "mdirappl".utf8 + Self.big(0, 9))
        return Self.box("udta", Self.full("meta", handler + Self.box("ilst", item)))
    }

    private static let matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000].flatMap { big($0, 4) }

    private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] { big(8 + body.count, 4) + name.utf8 + body }

    /// A box that begins with its version and flags.
    private static func full(_ name: String, _ body: [UInt8], _ flags: Int = 0) -> [UInt8] {
        box(name, big(flags, 4) + body)
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { place in
            let shift = 8 * (count - 1 - place)
            return shift < 64 ? UInt8(truncatingIfNeeded: value >> shift) : 0
        }
    }
}
