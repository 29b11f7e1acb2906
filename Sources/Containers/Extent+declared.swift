package import Bytes

/// Reads the declared end of the data from the headers of containers.
extension Extent {
    /// The maximum number of chunks to read. A small file can contain a few million empty ones.
    static let maxChunks = 10_000

    /// RIFF, RIFX and RF64: the end of the data chunk (EBU Tech 3306 for 64-bit sizes).
    static func riff(_ bytes: SourceBytes) throws -> Int64? {
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
                // Writers that could not seek back to the header leave zero or the maximum size.
                return size == 0 || size == 0xFFFF_FFFF ? nil : offset + 8 + size
            }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// Sony Wave64: the end of the data chunk.
    static func wave64(_ bytes: SourceBytes) throws -> Int64? {
        try wave64Data(bytes, atMost: 1).first.map { $0.offset.adding($0.size) }
    }

    /// Sony Wave64: the offsets and sizes of the bodies of the data chunks.
    package static func wave64Bodies(_ bytes: SourceBytes) throws -> [(body: Int64, size: Int64)] {
        try wave64Data(bytes, atMost: maxChunks).map { ($0.offset + 24, $0.size - 24) }
    }

    /// The data chunks of Sony Wave64. Sizes include the 24-byte chunk header.
    private static func wave64Data(
        _ bytes: SourceBytes, atMost most: Int
    ) throws -> [(offset: Int64, size: Int64)] {
        var found: [(Int64, Int64)] = []
        var offset: Int64 = 40
        for _ in 0..<maxChunks {
            guard found.count < most, let name = try bytes.text(at: offset, 4),
                let size = try bytes.little(at: offset + 16, 8), size >= 24
            else { break }
            if name == "data" { found.append((offset, size)) }
            offset = offset.adding(size.adding(7) / 8 * 8)
        }
        return found
    }

    /// AIFF and AIFF-C: the end of the sound data chunk.
    static func aiff(_ bytes: SourceBytes) throws -> Int64? {
        var offset: Int64 = 12
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 4) else { break }
            if name == "SSND" { return offset + 8 + size }
            offset += 8 + size + size % 2
        }
        return nil
    }

    /// Core Audio Format: the end of the last chunk.
    static func coreAudio(_ bytes: SourceBytes) throws -> Int64? { try coreAudioChunks(bytes).end }

    /// Core Audio Format: the body offsets of its chunks, and the end of the last one; `nil` if the data chunk's size is
    /// unknown.
    static func coreAudioChunks(_ bytes: SourceBytes) throws -> (bodies: [String: Int64], end: Int64?) {
        var bodies: [String: Int64] = [:]
        var offset: Int64 = 8
        for _ in 0..<maxChunks {
            guard let name = try bytes.text(at: offset, 4), let size = try bytes.big(at: offset + 4, 8) else {
                return (bodies, offset)
            }
            let isKnown = coreAudioNames.contains(name)
            // Tags and other bytes behind the last chunk are not chunks.
            if !isKnown, size < 0 || size > bytes.rest(from: offset) { return (bodies, offset) }
            if isKnown, bodies[name] == nil { bodies[name] = offset + 12 }
            guard size >= 0 else { return (bodies, nil) }
            offset = offset.adding(12).adding(size)
        }
        return (bodies, nil)
    }

    /// Apple's Core Audio Format Specification 1.0.
    private static let coreAudioNames: Set = [
        "desc", "data", "pakt", "kuki", "chan", "info", "strg", "mark", "regn", "inst", "midi", "ovvw", "peak", "edct",
        "umid", "uuid", "free", "ldat",
    ]

    /// Sun audio: data offset and size in the header.
    static func sun(_ bytes: SourceBytes) throws -> Int64? {
        guard let start = try bytes.big(at: 4, 4), let size = try bytes.big(at: 8, 4), size != 0xFFFF_FFFF else {
            return nil
        }
        return start + size
    }

    /// CRI ADX: the number of samples, of which each block of a channel contains 32.
    static func adx(_ bytes: SourceBytes) throws -> Int64? {
        guard let header = try bytes.big(at: 2, 2), let block = try bytes.big(at: 5, 1),
            let channels = try bytes.big(at: 7, 1), let samples = try bytes.big(at: 12, 4)
        else { return nil }
        return 4 + header + (samples + 31) / 32 * block * channels
    }

    /// APM of games: the size in the header, if the file has one.
    static func apm(_ bytes: SourceBytes) throws -> Int64? {
        try bytes.text(at: 20, 4) == "vs12" ? bytes.little(at: 24, 4) : nil
    }

    /// Nintendo AST: the size after the 64-byte header.
    static func ast(_ bytes: SourceBytes) throws -> Int64? {
        try bytes.text(at: 0, 4) == "STRM" ? bytes.big(at: 4, 4).map { 64 + $0 } : nil
    }

    /// Simon & Schuster VAG: the size after the 14-byte header.
    static func kvag(_ bytes: SourceBytes) throws -> Int64? { try bytes.little(at: 4, 4).map { 14 + $0 } }

    /// SoX native format: the number of 32-bit samples, zero if unknown.
    static func soundExchange(_ bytes: SourceBytes) throws -> Int64? {
        let isLittle = try bytes.text(at: 0, 4) == ".SoX"
        guard let header = try isLittle ? bytes.little(at: 4, 4) : bytes.big(at: 4, 4),
            let samples = try isLittle ? bytes.little(at: 8, 8) : bytes.big(at: 8, 8), (1...Int64(1) << 55) ~= samples
        else { return nil }
        return 4 + header + 4 * samples
    }
}
