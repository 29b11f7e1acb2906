import Bytes

/// Rewrites the frames of an ID3v2 tag so that TagLib reads all of them.
///
/// TagLib stops at an empty frame or a lower-case frame ID, loses the last frame if there is an extended header, reads the date
/// in ID3v2.2 as a year, and a byte order mark without text as text. (id3v2.4.0-structure §3.2, §4; id3v2-00 §3.2)
struct ID3Frames {
    private let version: UInt8
    private var frames: [Frame] = []
    /// The bytes after the last valid frame, unchanged.
    private var rest: ArraySlice<UInt8> = []

    private struct Frame {
        var name: [UInt8]
        let flags: ArraySlice<UInt8>
        var body: ArraySlice<UInt8>

        var isText: Bool { name[0] == UInt8(ascii: "T") && name.contains { $0 != UInt8(ascii: "X") && $0 != name[0] } }
    }

    /// The tag without what TagLib cannot read, and whether there are more frames than are read. Other bytes are returned unchanged.
    static func normalized(_ tag: [UInt8]) -> (bytes: [UInt8], isCut: Bool) {
        guard tag.count > 10, tag.starts(with: Array("ID3".utf8)), (2...4).contains(tag[3]),
            tag[6..<10].allSatisfy({ $0 < 0x80 })
        else { return (tag, false) }
        // In ID3v2.2 this bit means a compression that was never defined.
        guard tag[3] > 2 || tag[5] & 0x40 == 0 else { return (tag, false) }
        var frames = ID3Frames(tag)
        let isCut = frames.frames.count > Metadata.maxTags
        frames.nameSuccessors()
        frames.nameGrouping()
        frames.joinDate()
        return (frames.bytes(flags: tag[3] == 4 ? tag[5] & 0x80 : 0), isCut)
    }

    private init(_ tag: [UInt8]) {
        version = tag[3]
        var body = tag[10..<min(tag.count, 10 + Self.safe(tag[6..<10]))]
        if version < 4, tag[5] & 0x80 != 0 { body = Self.decoded(body) }
        if tag[5] & 0x40 != 0 { body = Self.withoutExtendedHeader(body, version) }
        let (nameSize, sizeSize) = version == 2 ? (3, 3) : (4, 4)
        let header = version == 2 ? 6 : 10
        while frames.count <= Metadata.maxTags, body.count > header, let first = body.first, first != 0 {
            let name = Array(body.prefix(nameSize))
            let sizeBytes = body.dropFirst(nameSize).prefix(sizeSize)
            let size = version == 4 ? Self.size(in: body) : Self.plain(sizeBytes)
            guard name.allSatisfy(Self.isAlphanumeric), size <= body.count - header else { break }
            let frame = Frame(
                name: name, flags: body.dropFirst(nameSize + sizeSize).prefix(header - nameSize - sizeSize),
                body: body.dropFirst(header).prefix(size))
            body = body.dropFirst(header + size)
            let isNamed = name.allSatisfy { $0 < UInt8(ascii: "a") }
            if size > 0, isNamed, !(frame.isText && Self.isBlank(frame.body)) { frames.append(frame) }
        }
        rest = frames.count <= Metadata.maxTags ? body : []
    }

    private func bytes(flags: UInt8) -> [UInt8] {
        var content: [UInt8] = []
        for frame in frames {
            let size = frame.body.count
            content += frame.name
            switch version {
            case 2: content += Self.bytes(of: size, count: 3, bits: 8)
            case 3: content += Self.bytes(of: size, count: 4, bits: 8)
            default: content += Self.bytes(of: size, count: 4, bits: 7)
            }
            content += frame.flags
            content += frame.body
        }
        content += rest
        let header = Array("ID3".utf8) + [version, 0, flags]
        return header + Self.bytes(of: content.count, count: 4, bits: 7) + content
    }

    // MARK: Frame contents

    /// Renames frames of ID3v2.3 in an ID3v2.4 tag to their successors (id3v2.4.0-changes, section 2), as TagLib does with other ones.
    private mutating func nameSuccessors() {
        guard version == 4 else { return }
        for (old, new) in [("IPLS", "TIPL"), ("TORY", "TDOR")].map({ (Array($0.utf8), Array($1.utf8)) })
        where !frames.contains(where: { $0.name == new }) {
            for index in frames.indices where frames[index].name == old { frames[index].name = new }
        }
    }

    /// Renames the frame that most programs use for the grouping to the one that TagLib reads. iTunes has a separate frame for
    /// it, and uses this one for the work.
    private mutating func nameGrouping() {
        let (common, apple) = version == 2 ? ("TT1", "GP1") : ("TIT1", "GRP1")
        guard !frames.contains(where: { $0.name == Array(apple.utf8) }) else { return }
        for index in frames.indices where frames[index].name == Array(common.utf8) {
            frames[index].name = Array(apple.utf8)
        }
    }

    /// Joins the year, the date and the time of ID3v2.2 into one date, because TagLib reads each of them as the date.
    private mutating func joinDate() {
        guard version == 2 else { return }
        func digits(_ name: String) -> [UInt8]? {
            frames.first { $0.name == Array(name.utf8) }?.body.filter { (0x30...0x39).contains($0) }
        }
        let (year, day) = (digits("TYE"), digits("TDA"))
        frames.removeAll { $0.name == Array("TDA".utf8) || $0.name == Array("TIM".utf8) }
        guard let year, year.count == 4, let day, day.count == 4,
            let index = frames.firstIndex(where: { $0.name == Array("TYE".utf8) })
        else { return }
        let dash = [UInt8(ascii: "-")]
        frames[index].body = ([0] + year + dash + day[2...] + dash + day[..<2])[...]
    }

    /// Whether a text frame contains only its encoding, byte order marks and zeros.
    private static func isBlank(_ body: ArraySlice<UInt8>) -> Bool {
        body.dropFirst().allSatisfy { $0 == 0 || (body.first == 1 && $0 >= 0xFE) }
    }

    // MARK: Bytes

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// A size, most significant bits first, with that many bits in each byte.
    private static func bytes(of size: Int, count: Int, bits: Int) -> [UInt8] {
        let mask = 1 << bits - 1
        return (0..<count).reversed().map { (index: Int) -> UInt8 in UInt8(size >> (bits * index) & mask) }
    }

    private static func plain(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func safe(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) } }

    /// The size of an ID3v2.4 frame. Some programs write it as a plain number, so the one that is followed by a frame or the
    /// end is used.
    private static func size(in frame: ArraySlice<UInt8>) -> Int {
        let bytes = frame.dropFirst(4).prefix(4)
        let (right, wrong) = (safe(bytes), plain(bytes))
        guard right != wrong, bytes.allSatisfy({ $0 < 0x80 }) else { return wrong }
        func isFollowed(_ size: Int) -> Bool {
            let next = frame.dropFirst(10 + size).prefix(4)
            return size <= frame.count - 10 && (next.isEmpty || next.first == 0 || next.allSatisfy(isAlphanumeric))
        }
        return isFollowed(right) || !isFollowed(wrong) ? right : wrong
    }

    /// Removes unsynchronization, which inserts zeros so that bytes do not look like MPEG audio. (id3v2.4.0-structure §6.1)
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var (decoded, isMarked) = ([UInt8](), false)
        decoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if !(isMarked && byte == 0) { decoded.append(byte) }
            isMarked = byte == 0xFF
        }
        return decoded[...]
    }

    /// The bytes after the extended header. Its size includes itself in ID3v2.4, but not in ID3v2.3.
    private static func withoutExtendedHeader(_ body: ArraySlice<UInt8>, _ version: UInt8) -> ArraySlice<UInt8> {
        let size = version == 3 ? plain(body.prefix(4)) + 4 : safe(body.prefix(4))
        return size <= body.count ? body.dropFirst(size) : body
    }
}
