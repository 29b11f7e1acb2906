package import Bytes

/// How far a container's own structure says its bytes go.
package enum SourceEnd {
    /// Containers of uncompressed sound, whose last packet libav calls corrupt whenever it is shorter than the others.
    package static let uncompressed: Set = ["wav", "w64", "aiff", "caf", "au"]

    /// The offset after the last byte that the container declares; nothing if it declares none.
    package static func declared(_ format: String, _ source: any ByteSource) throws -> Int64? {
        let bytes = SourceBytes(source)
        switch format {
        case "wav": return try riff(bytes)
        case "w64": return try sonicFoundry(bytes)
        case "aiff": return try chunks(bytes, from: 12, named: "SSND")
        case "caf": return try coreAudio(bytes).end
        case "au": return try sun(bytes)
        case "avi": return try bytes.little(at: 4, 4).map { 8 + $0 }
        case "asf": return try advancedSystems(bytes)
        case let name where name.hasPrefix("mov,"): return try boxes(bytes)
        case let name where name.hasPrefix("matroska"): return try matroska(bytes)
        case "flv": return try FilmEnd.flash(bytes)
        case "nut": return try FilmEnd.index(bytes)
        case "mxf": return try FilmEnd.materialExchange(bytes)
        case "adx": return try criwareEnd(bytes)
        case "apm": return try bytes.text(at: 20, 4) == "vs12" ? bytes.little(at: 24, 4) : nil
        case "ast": return try bytes.text(at: 0, 4) == "STRM" ? bytes.big(at: 4, 4).map { 64 + $0 } : nil
        case "kvag": return try bytes.little(at: 4, 4).map { 14 + $0 }
        case "sox": return try soundExchange(bytes)
        default: return nil
        }
    }

    /// How many chunks are looked at; a few million empty ones fit in a small file.
    static let maxChunks = 10_000

    /// RIFF, RIFX and RF64: the end of the data chunk (EBU Tech 3306 for 64-bit sizes).
    private static func riff(_ bytes: SourceBytes) throws -> Int64? {
        let isBig = try bytes.isRIFX()
        var offset: Int64 = 12
        var long: Int64?
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4),
                let size = try bytes.number(at: offset + 4, 4, isBig: isBig)
            else { break }
            if name == "ds64" { long = try bytes.little(at: offset + 16, 8) }
            if name == "data" {
                if let long, size == 0xFFFF_FFFF { return (offset + 8).adding(long) }
                // Zero and the largest size are what writers leave that could not come back to the header.
                return size == 0 || size == 0xFFFF_FFFF ? nil : offset + 8 + size
            }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// Sony Wave64: the end of the data chunk, whose sizes include their 24-byte header.
    private static func sonicFoundry(_ bytes: SourceBytes) throws -> Int64? {
        var offset: Int64 = 40
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.little(at: offset + 16, 8), size >= 24
            else { break }
            if name == "data" { return offset.adding(size) }
            offset = offset.adding(size.adding(7) / 8 * 8)
        }
        return nil
    }

    /// IFF chunks with 32-bit sizes: the end of the one that is asked for.
    private static func chunks(_ bytes: SourceBytes, from start: Int64, named wanted: String) throws -> Int64? {
        var offset = start
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 4) else { break }
            if name == wanted { return offset + 8 + size }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// Core Audio Format: where the bodies of its chunks begin, and the end of the last one; the data chunk may be of unknown
    /// size.
    static func coreAudio(_ bytes: SourceBytes) throws -> (bodies: [String: Int64], end: Int64?) {
        var bodies: [String: Int64] = [:]
        var offset: Int64 = 8
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 8) else {
                return (bodies, offset)
            }
            let isKnown = coreAudioChunks.contains(name)
            // Tags and other bytes behind the last chunk are none.
            if !isKnown, size < 0 || size > bytes.rest(from: offset) { return (bodies, offset) }
            if isKnown, bodies[name] == nil { bodies[name] = offset + 12 }
            guard size >= 0 else { return (bodies, nil) }
            offset = offset.adding(12).adding(size)
        }
        return (bodies, nil)
    }

    /// Apple's Core Audio Format Specification 1.0.
    private static let coreAudioChunks: Set = [
        "desc", "data", "pakt", "kuki", "chan", "info", "strg", "mark", "regn", "inst", "midi", "ovvw", "peak", "edct",
        "umid", "uuid", "free", "ldat",
    ]

    /// Sun audio: data offset and size in the header.
    private static func sun(_ bytes: SourceBytes) throws -> Int64? {
        guard let start = try bytes.big(at: 4, 4), let size = try bytes.big(at: 8, 4), size != 0xFFFF_FFFF else {
            return nil
        }
        return start + size
    }

    /// ASF: the end of the data object, which follows the header object.
    private static func advancedSystems(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.little(at: 16, 8), header >= 30,
            let data = try bytes.little(at: header.adding(16), 8), data >= 50
        else { return nil }
        return header.adding(data)
    }

    /// CRI ADX: a count of samples, 32 in each block of each channel.
    private static func criwareEnd(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.big(at: 2, 2), let block = try bytes.big(at: 5, 1),
            let channels = try bytes.big(at: 7, 1), let samples = try bytes.big(at: 12, 4)
        else { return nil }
        return 4 + header + (samples + 31) / 32 * block * channels
    }

    /// SoX's own format: a count of 32-bit samples, zero if unknown.
    private static func soundExchange(_ bytes: SourceBytes) throws -> Int64? {
        let isLittle = try bytes.text(at: 0, 4) == ".SoX"
        guard let header = try isLittle ? bytes.little(at: 4, 4) : bytes.big(at: 4, 4),
            let samples = try isLittle ? bytes.little(at: 8, 8) : bytes.big(at: 8, 8), (1...Int64(1) << 55) ~= samples
        else { return nil }
        return 4 + header + 4 * samples
    }

    /// ISO base media: the end of the last top-level box.
    private static func boxes(_ bytes: SourceBytes) throws -> Int64? {
        var offset: Int64 = 0
        while let short = try bytes.big(at: offset, 4), let name = try bytes.text(at: offset + 4, 4) {
            let size = short == 1 ? try bytes.big(at: offset + 8, 8) ?? 0 : short
            // Size zero reaches to the end of the file; fewer than eight bytes are no box.
            guard size >= 8 else { return nil }
            // Tags and other bytes behind the last box are none.
            if size > bytes.rest(from: offset), !topLevel.contains(name) { return offset }
            offset = offset.adding(size)
        }
        return offset
    }

    /// Boxes that may be the last (ISO 14496-12, QuickTime).
    private static let topLevel: Set = [
        "ftyp", "styp", "moov", "moof", "mdat", "mfra", "sidx", "ssix", "free", "skip", "wide", "pnot", "prft", "emsg",
        "meta", "uuid", "udta", "PICT", "pdin", "junk",
    ]

    /// Matroska and WebM: the end of the segment, unless its size is left open (RFC 8794).
    private static func matroska(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.element(at: 0), let size = header.size,
            let segment = try bytes.element(at: header.body + size), let length = segment.size
        else { return nil }
        return segment.body.adding(length)
    }
}
