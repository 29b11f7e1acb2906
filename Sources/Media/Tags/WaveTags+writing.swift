/// Tags behind the sound of a finished file.
extension WaveTags {
    /// Appends chunks to a RIFF or RF64 file and puts `bext` where room was kept for it.
    static func append(_ metadata: Metadata, id3: [UInt8]?, to store: any ByteStore) throws -> Bool {
        let source = StoredSource(store)
        if let broadcast = metadata.wave.broadcast?.bytes {
            let list = try ChunkList(source, isBigEndian: false)
            guard let place = list.entries.first(where: { $0.name == "bext" }), place.size >= broadcast.count else {
                return false
            }
            try broadcast.withUnsafeBytes { try store.write($0, at: place.body) }
        }
        let bytes = SourceBytes(source)
        guard let length = try append(chunks(metadata, id3: id3), to: store) else { return true }
        if try bytes.text(at: 0, 4) == "RF64" {
            try write(littleEndian(UInt64(length - 8), 8), to: store, at: 20)
        } else {
            guard length - 8 <= Int64(UInt32.max) else { return false }
            try write(littleEndian(UInt64(length - 8), 4), to: store, at: 4)
        }
        return true
    }

    /// Appends an ID3v2 tag to an AIFF file.
    static func appendToAIFF(_ id3: [UInt8]?, to store: any ByteStore) throws -> Bool {
        guard let id3, let length = try append(ChunkList.chunk("ID3 ", id3, isBigEndian: true), to: store) else {
            return true
        }
        guard length - 8 <= Int64(UInt32.max) else { return false }
        try write(bigEndian(UInt64(length - 8), 4), to: store, at: 4)
        return true
    }

    /// Appends at an even offset and answers the new length; nothing if there is nothing to append.
    private static func append(_ chunks: [UInt8], to store: any ByteStore) throws -> Int64? {
        guard !chunks.isEmpty else { return nil }
        var end = try store.length
        if end % 2 == 1 {
            try write([0], to: store, at: end)
            end += 1
        }
        try write(chunks, to: store, at: end)
        return end + Int64(chunks.count)
    }

    private static func write(_ bytes: [UInt8], to store: any ByteStore, at offset: Int64) throws {
        try bytes.withUnsafeBytes { try store.write($0, at: offset) }
    }
}
