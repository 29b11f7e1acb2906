package import Bytes

/// Replaces sizes that programs leave in a header when they write to a pipe and cannot seek back.
package struct UnknownSize {
    private let bytes: SourceBytes
    private let length: Int64
    private var corrections: [Int64: UInt8] = [:]
    /// How many more chunks may be read.
    private var chunksLeft = Extent.maxChunks

    /// The source with the sizes that its length implies; `nil` if its header declares them.
    package static func resolved(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws -> (any ByteSource)? {
        guard let resolve = descriptor.unknownSize, !source.isEndless else { return nil }
        var header = UnknownSize(source)
        return try resolve(&header) ? CorrectedSource(source, header.corrections) : nil
    }

    /// The container of AIFF, AIFF-C or Sun audio of which the first bytes declare no size: libav's probe takes them for no format
    /// (`aiff_probe` and `au_probe` in libavformat 61).
    package static func container(beginning bytes: [UInt8]) -> Container? {
        guard bytes.count >= headBytes else { return nil }
        let size = { (start: Int) in bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        switch String(decoding: bytes[..<4], as: UTF8.self) {
        case "FORM" where size(4) < 4 && ["AIFF", "AIFC"].contains(String(decoding: bytes[8..<12], as: UTF8.self)):
            return .aiff
        case ".snd" where size(8) == 0: return .sun
        default: return nil
        }
    }

    /// The number of bytes by which `container(beginning:)` decides.
    package static let headBytes = 12

    private init(_ source: any ByteSource) {
        bytes = SourceBytes(source)
        length = source.length
    }

    /// RIFF, RIFX and RF64: the data chunk, the file size, and the number of samples in `fact` or `ds64`.
    mutating func resolveWave() throws -> Bool {
        let isBig = try bytes.isRIFX()
        var (offset, block): (Int64, Int64) = (12, 1)
        var (wide, fact): (Int64?, Int64?)
        while mayGoOn(), let name = try bytes.text(at: offset, 4),
            let size = try bytes.number(at: offset + 4, 4, isBig: isBig)
        {
            let body = offset + 8
            switch name {
            case "ds64": wide = body
            case "fact": fact = body
            case "fmt ": block = try waveBlock(body, isBig: isBig)
            case "data":
                if size == 0xFFFF_FFFF, try bytes.text(at: 0, 4) != "RIFF", let wide,
                    let long = try bytes.little(at: wide + 8, 8)
                {
                    guard try isUnknown(wide: long, from: body) else { return false }
                    let rest = whole(body..<(try startOfChunks(behind: body, isBig: isBig)), block)
                    correct(length - 8, 8, at: wide, isBig: false)
                    correct(rest, 8, at: wide + 8, isBig: false)
                    correct(0, 8, at: wide + 16, isBig: false)
                    return true
                }
                if size == 0, length > body, try isChunks(from: body, isBig: isBig) {
                    // libav would read them as audio although there is none. It does not open a file without an audio data
                    // chunk.
                    correct(0x4B4E_554A, 4, at: offset, isBig: false)
                    return true
                }
                guard try isUnknown(size, from: body, isBig: isBig) else { return false }
                let rest = whole(body..<(try startOfChunks(behind: body, isBig: isBig)), block)
                // libav reads to the end of the file if the size is the maximum.
                correct(min(rest, 0xFFFF_FFFF), 4, at: offset + 4, isBig: isBig)
                if let fact { correct(0, 4, at: fact, isBig: false) }
                return true
            default: break
            }
            offset = body + size + size % 2
        }
        return false
    }

    /// Bytes of one sample of all channels; 1 for compressed codecs.
    private func waveBlock(_ body: Int64, isBig: Bool = false) throws -> Int64 {
        guard let tag = try bytes.number(at: body, 2, isBig: isBig), [1, 3, 6, 7, 0xFFFE].contains(tag),
            let block = try bytes.number(at: body + 12, 2, isBig: isBig)
        else { return 1 }
        return max(block, 1)
    }

    /// Sony Wave64, whose sizes include the 24-byte chunk header.
    mutating func resolveWave64() throws -> Bool {
        var (offset, block): (Int64, Int64) = (40, 1)
        var fact: Int64?
        while mayGoOn(), let name = try bytes.text(at: offset, 4), let size = try bytes.little(at: offset + 16, 8) {
            let body = offset + 24
            switch name {
            case "fmt ": block = try waveBlock(body)
            case "fact": fact = body
            case "data":
                // The rest of the GUID that all chunks have in common.
                let isFollowed = try bytes.read(at: body + 4, 4) == [0xF3, 0xAC, 0xD3, 0x11]
                let isEmpty = size == 0 || size == 24
                guard length > body, isEmpty && !isFollowed || Self.means(unknownWide: size) else { return false }
                correct(length, 8, at: 16, isBig: false)
                correct(24 + whole(body..<length, block), 8, at: offset + 16, isBig: false)
                if let fact { correct(0, 8, at: fact, isBig: false) }
                return true
            default: break
            }
            guard size >= 24 else { return false }
            offset = offset.adding(size.adding(7) / 8 * 8)
        }
        return false
    }

    /// AIFF and AIFF-C: the sound data chunk, the file size, and the number of frames in the common chunk.
    mutating func resolveAIFF() throws -> Bool {
        var offset: Int64 = 12
        var common: Int64?
        while mayGoOn(), let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 4) {
            let body = offset + 8
            if name == "COMM" { common = body }
            if name == "SSND" {
                // The chunk begins with an offset and a block size, even if it is empty.
                let isEmpty = try size == 8 && length > body + 8 && !isChunks(from: body + 8, isBig: true)
                guard let common, try isEmpty || isUnknown(size, from: body, isBig: true) else { return false }
                guard length >= body + 8, length - 8 <= 0xFFFF_FFFF else { return false }
                let block = try aiffBlock(common)
                let rest = whole(body + 8..<(try startOfChunks(behind: body + 8, isBig: true)), block ?? 1)
                correct(length - 8, 4, at: 4, isBig: true)
                correct(8 + rest, 4, at: offset + 4, isBig: true)
                if let block { correct(rest / block, 4, at: common + 2, isBig: true) }
                return true
            }
            offset = body + size + size % 2
        }
        return false
    }

    /// Bytes of one sample of all channels; `nil` for compressed audio.
    private func aiffBlock(_ common: Int64) throws -> Int64? {
        guard let channels = try bytes.big(at: common, 2), let bits = try bytes.big(at: common + 6, 2),
            channels > 0, bits > 0
        else { return nil }
        let kind = try bytes.text(at: 8, 4) == "AIFC" ? try bytes.text(at: common + 18, 4) ?? "" : "NONE"
        switch kind.lowercased() {
        case "none", "twos", "sowt", "raw ", "in24", "in32", "fl32", "fl64": return channels * ((bits + 7) / 8)
        case "ulaw", "alaw": return channels
        default: return nil
        }
    }

    /// Sun audio, in which the standard defines the maximum as an unknown size.
    mutating func resolveSun() throws -> Bool {
        guard let start = try bytes.big(at: 4, 4), let size = try bytes.big(at: 8, 4), length > start,
            size == 0 || Self.means(unknown: size) && size > length - start
        else { return false }
        correct(min(length - start, 0xFFFF_FFFF), 4, at: 8, isBig: true)
        return true
    }

    /// Core Audio Format, whose data chunk may be the last one with a size of -1. The chunk begins with four bytes that are not
    /// audio.
    mutating func resolveCoreAudio() throws -> Bool {
        var (offset, block): (Int64, Int64) = (8, 1)
        while mayGoOn(), let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 8) {
            let body = offset + 12
            if name == "desc", try bytes.text(at: body + 8, 4) == "lpcm" {
                block = try max(bytes.big(at: body + 16, 4) ?? 1, 1)
            }
            if name == "data" {
                guard Self.means(unknownWide: size), length > body + 4 else { return false }
                correct(4 + whole(body + 4..<length, block), 8, at: offset + 4, isBig: true)
                return true
            }
            guard size >= 0 else { return false }
            offset = body.adding(size)
        }
        return false
    }

    /// AVI: the file size. The chunks are read one by one, whatever the list's size is.
    mutating func resolveInterleaved() throws -> Bool {
        guard let size = try bytes.little(at: 4, 4), size == 0 || Self.means(unknown: size),
            size > length - 8 || size == 0
        else { return false }
        correct(min(length - 8, 0xFFFF_FFFF), 4, at: 4, isBig: false)
        return true
    }
}

extension UnknownSize {
    /// Whether writers leave this size if it is unknown: the maximum of 31 or 32 bits, or SoX's 0x7FFFF000 and 0x7F000000, each
    /// with or without the header.
    private static func means(unknown size: Int64) -> Bool {
        [0x7EFF_F000...0x7F00_1000, 0x7FFF_E000...0x8000_1000, 0xFFFF_E000...0xFFFF_FFFF].contains { $0.contains(size) }
    }

    /// The same for 64 bits. Zero is checked elsewhere.
    private static func means(unknownWide size: Int64) -> Bool { size < 0 || size >= 1 << 62 }

    /// Whether the size of the audio chunk is unknown: it exceeds the end of the file, it is zero although no other chunk
    /// follows, or audio continues behind it.
    private mutating func isUnknown(_ size: Int64, from body: Int64, isBig: Bool) throws -> Bool {
        let rest = length - body
        guard rest > 0 else { return false }
        if size == 0 { return try !isChunks(from: body, isBig: isBig) }
        guard Self.means(unknown: size) else { return false }
        let end = body + size + size % 2
        return try size > rest || end < length && !hasName(at: end)
    }

    private mutating func isUnknown(wide size: Int64, from body: Int64) throws -> Bool {
        if size == 0 { return try length > body && !isChunks(from: body, isBig: false) }
        return Self.means(unknownWide: size) && length > body
    }

    /// Whether the bytes from an offset to the end of the file consist of chunks only.
    private mutating func isChunks(from start: Int64, isBig: Bool) throws -> Bool {
        var offset = start
        while mayGoOn(), offset < length {
            guard try hasName(at: offset), let size = try bytes.number(at: offset + 4, 4, isBig: isBig) else {
                return false
            }
            // Some writers omit the last chunk's padding.
            offset += 8 + size + (offset + 8 + size == length ? 0 : size % 2)
        }
        return offset == length
    }

    private mutating func mayGoOn() -> Bool {
        chunksLeft -= 1
        return chunksLeft >= 0
    }

    private func hasName(at offset: Int64) throws -> Bool {
        try bytes.read(at: offset, 4)?.allSatisfy { (0x20..<0x7F).contains($0) } ?? false
    }

    /// The start of the known chunks that end exactly at the end of the file, such as tags that were added behind the audio; the end
    /// of the file if there are none.
    private func startOfChunks(behind body: Int64, isBig: Bool) throws -> Int64 {
        let first = max(body, length - (length - body) % 2 - Int64(Metadata.maxBytes))
        guard length - first >= 8, let tail = try bytes.read(at: first, Int(length - first)) else { return length }
        var start = tail.count
        tail.withUnsafeBytes { tail in
            // Chunks begin at even offsets.
            for place in stride(from: (tail.count - 8) & ~1, through: 0, by: -2) {
                let number = tail.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                let size = Int(isBig ? UInt32(bigEndian: number) : UInt32(littleEndian: number))
                let end = place + 8 + size
                // Some writers omit the last chunk's padding.
                guard end == start || end + size % 2 == start,
                    Self.chunks.contains(String(decoding: tail[place..<place + 4], as: UTF8.self))
                else { continue }
                start = place
            }
        }
        return first + Int64(start)
    }

    /// The names of chunks that programs write behind audio. Others are not trusted, for their bytes may be audio.
    private static let chunks: Set = [
        "LIST", "id3 ", "ID3 ", "bext", "fact", "cue ", "smpl", "inst", "plst", "PEAK", "JUNK", "junk", "PAD ", "FLLR",
        "afsp", "iXML", "axml", "_PMX", "chna", "cart", "acid", "strc", "DISP", "umid", "link", "SAUR",
        "NAME", "AUTH", "(c) ", "ANNO", "COMT", "MARK", "INST", "MIDI", "AESD", "APPL", "SAXL", "FVER", "CHAN", "basc",
        "trns", "cate",
    ]

    /// The bytes of a range, in whole blocks.
    private func whole(_ range: Range<Int64>, _ block: Int64) -> Int64 {
        let rest = Int64(range.count)
        return rest < block ? rest : rest - rest % block
    }

    private mutating func correct(_ value: Int64, _ count: Int, at offset: Int64, isBig: Bool) {
        for index in 0..<count {
            let shift = 8 * (isBig ? count - 1 - index : index)
            corrections[offset + Int64(index)] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
