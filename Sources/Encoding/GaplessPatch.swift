import Bytes
import Containers
import Libav
import MediaTypes

/// Adds gapless information that a muxer does not write to a finished file.
enum GaplessPatch {
    static func apply(
        _ store: any RandomAccessOutput, _ settings: EncodingSettings, _ padding: CodecPadding, packets: Int,
        samples: Int64
    ) throws {
        let bytes = StoredBytes(store)
        let remainder = padding.remainder(packets: packets, samples: samples)
        let isPCM = settings.codec.kind == .pcm
        switch settings.format.container.completion {
        case .broadcastWave: try patchBroadcastWave(bytes, samples * Int64(settings.frameBytes))
        case .wave64: try patchWave64(bytes, samples * Int64(settings.frameBytes))
        case .packetTable where !isPCM:
            try patchPacketTable(bytes, packets: packets, samples, priming: padding.start, remainder: remainder)
        case .onlySample where !isPCM && samples == 1: try patchOnlySample(bytes, store)
        case .none, .packetTable, .onlySample: break
        }
    }

    /// libav takes a QuickTime track for uncompressed audio if its only packet lasts a single tick (`mov_build_index` in
    /// libavformat/mov.c). The edit list keeps the correct length.
    private static func patchOnlySample(_ bytes: StoredBytes, _ store: any RandomAccessOutput) throws {
        let source = SourceBytes(StoredSource(store))
        var box = try Box(name: "", body: 0, end: bytes.length).first("moov", source)
        for name in ["trak", "mdia", "minf", "stbl", "stts"] { box = try box?.first(name, source) }
        guard let body = box?.body, try bytes.big(at: body + 4, 4) == 1, try bytes.big(at: body + 8, 4) == 1,
            try bytes.big(at: body + 12, 4) == 1
        else { return }
        try bytes.write(big: 2, 4, at: body + 12)
    }

    /// In RF64, libav counts the byte that pads an odd size as audio. (EBU Tech 3306, 5: `ds64` with `dataSize` at its eighth
    /// byte)
    private static func patchBroadcastWave(_ bytes: StoredBytes, _ size: Int64) throws {
        guard size % 2 != 0, try bytes.read(at: 0, 4) == Array("RF64".utf8),
            try bytes.read(at: 12, 4) == Array("ds64".utf8)
        else { return }
        try bytes.write(little: size, 8, at: 28)
    }

    /// libav rounds the size of Wave64's last chunk up to eight bytes, which adds samples.
    private static func patchWave64(_ bytes: StoredBytes, _ size: Int64) throws {
        var offset: Int64 = 40
        while let name = try bytes.read(at: offset, 4), let chunk = try bytes.little(at: offset + 16, 8), chunk >= 24 {
            if name == Array("data".utf8) { return try bytes.write(little: 24 + size, 8, at: offset + 16) }
            offset += (chunk + 7) & ~7
        }
    }

    /// libav counts whole packets in the packet table of Core Audio files, and omits the table if all packets are equal.
    private static func patchPacketTable(
        _ bytes: StoredBytes, packets: Int, _ samples: Int64, priming: Int, remainder: Int64
    ) throws {
        var offset: Int64 = 8
        while let name = try bytes.read(at: offset, 4), let size = try bytes.big(at: offset + 4, 8), size >= 0 {
            if name == Array("pakt".utf8) { break }
            offset += 12 + size
        }
        let isNew = try bytes.read(at: offset, 4) != Array("pakt".utf8)
        if isNew {
            offset = bytes.length
            try bytes.write(Array("pakt".utf8), at: offset)
            try bytes.write(big: 24, 8, at: offset + 4)
            try bytes.write(big: Int64(packets), 8, at: offset + 12)
        }
        try bytes.write(big: samples, 8, at: offset + 20)
        try bytes.write(big: Int64(priming), 4, at: offset + 28)
        try bytes.write(big: remainder, 4, at: offset + 32)
    }
}

extension EncodingSettings {
    /// Bytes of one PCM sample of all channels.
    var frameBytes: Int { (sampleFormat?.bits ?? 0) / 8 * shape.channels }
}

/// Reads and writes numbers in a file in progress.
private struct StoredBytes {
    private let store: any RandomAccessOutput
    let length: Int64

    init(_ store: any RandomAccessOutput) {
        self.store = store
        length = (try? store.length) ?? 0
    }

    /// Reads `count` bytes; `nil` if the file ends before.
    func read(at offset: Int64, _ count: Int) throws -> [UInt8]? {
        guard offset >= 0, offset + Int64(count) <= length else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try store.read(into: $0, at: offset) }
        return got == count ? bytes : nil
    }

    func big(at offset: Int64, _ count: Int) throws -> Int64? {
        try read(at: offset, count).map { $0.reduce(0) { $0 << 8 | Int64($1) } }
    }

    func little(at offset: Int64, _ count: Int) throws -> Int64? {
        try read(at: offset, count).map { $0.reversed().reduce(0) { $0 << 8 | Int64($1) } }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try store.write($0, at: offset) }
    }

    func write(big value: Int64, _ count: Int, at offset: Int64) throws {
        try write((0..<count).map { UInt8(truncatingIfNeeded: value >> ((count - 1 - $0) * 8)) }, at: offset)
    }

    func write(little value: Int64, _ count: Int, at offset: Int64) throws {
        try write((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }, at: offset)
    }
}
