import Bytes
import Containers

/// Writes tags after the audio of a finished file.
extension WaveTags {
    /// The result of writing tags.
    enum Outcome {
        case written
        /// The reserved space is too small.
        case misfit
        /// The file would exceed the 4 GiB that its size field allows.
        case beyond
    }

    /// Appends chunks to a RIFF or RF64 file, and writes `bext` into its reserved space.
    static func append(_ metadata: Metadata, id3: [UInt8]?, to store: any RandomAccessOutput) throws -> Outcome {
        let source = StoredSource(store)
        if let broadcast = metadata.wave.broadcast?.bytes {
            let list = try ChunkList(source)
            guard let place = list.entries.first(where: { $0.name == "bext" }), place.size >= broadcast.count else {
                return .misfit
            }
            try broadcast.withUnsafeBytes { try store.write($0, at: place.body) }
        }
        let chunks = Self.chunks(metadata, id3: id3)
        let isLong = try SourceBytes(source).text(at: 0, 4) == "RF64"
        guard try isLong || fits(chunks, in: store) else { return .beyond }
        guard let length = try append(chunks, to: store) else { return .written }
        try write(littleEndian(UInt64(length - 8), isLong ? 8 : 4), to: store, at: isLong ? 20 : 4)
        return .written
    }

    /// Appends an ID3v2 tag to an AIFF file.
    static func appendToAIFF(_ id3: [UInt8]?, to store: any RandomAccessOutput) throws -> Outcome {
        guard let id3 else { return .written }
        let chunk = ChunkList.chunk("ID3 ", id3, isBigEndian: true)
        guard try fits(chunk, in: store) else { return .beyond }
        guard let length = try append(chunk, to: store) else { return .written }
        try write(bigEndian(UInt64(length - 8), 4), to: store, at: 4)
        return .written
    }

    /// Whether the file size including the chunks fits in 32 bits.
    private static func fits(_ chunks: [UInt8], in store: any RandomAccessOutput) throws -> Bool {
        try chunks.isEmpty || store.length + 1 + Int64(chunks.count) - 8 <= Int64(UInt32.max)
    }

    /// Appends at an even offset and returns the new length; `nil` if there is nothing to append.
    private static func append(_ chunks: [UInt8], to store: any RandomAccessOutput) throws -> Int64? {
        guard !chunks.isEmpty else { return nil }
        var end = try store.length
        if end % 2 == 1 {
            try write([0], to: store, at: end)
            end += 1
        }
        try write(chunks, to: store, at: end)
        return end + Int64(chunks.count)
    }

    private static func write(_ bytes: [UInt8], to store: any RandomAccessOutput, at offset: Int64) throws {
        try bytes.withUnsafeBytes { try store.write($0, at: offset) }
    }
}
