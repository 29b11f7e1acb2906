import Bytes
import Decoding
import Playlists

/// Opens the files and keys of a playlist's segments. It keeps the last file open.
struct HLSFiles {
    private var keys: [String: [UInt8]] = [:]
    /// The last file, which may contain several segments.
    private var last: (reference: String, bytes: any ByteSource)?

    /// Opens a reader of a segment or an initialization section.
    mutating func reader(
        _ kind: NestedKind, _ reference: String, _ range: Range<Int64>?, _ key: HLSMedia.Key?, _ sequence: Int64,
        _ parent: Int,
        _ nested: any NestedSources
    ) throws(MediaError) -> HLSReader {
        let source = try file(kind, reference, keeping: range != nil, parent, nested)
        let range = range ?? 0..<source.length
        guard range.upperBound <= source.length else {
            throw HLSPlaylist.failure(
                "refers to bytes up to \(range.upperBound) of '\(HLSPlaylist.shown(reference))', which has \(source.length) bytes"
            )
        }
        var cipher: (key: [UInt8], vector: [UInt8])?
        if let key {
            cipher = (
                try self.key(key.reference, parent, nested), key.vector ?? SegmentCipher.vector(ofSequence: sequence)
            )
        }
        return try HLSReader(SourceBytes(source), range, cipher, reference)
    }

    private mutating func file(
        _ kind: NestedKind, _ reference: String, keeping: Bool, _ parent: Int, _ nested: any NestedSources
    ) throws(MediaError) -> any ByteSource {
        if let last, last.reference == reference { return last.bytes }
        let opened = try HLSJoin.open(reference, parent, kind, nested)
        last = keeping ? (reference, opened.bytes) : nil
        return opened.bytes
    }

    private mutating func key(
        _ reference: String, _ parent: Int, _ nested: any NestedSources
    ) throws(MediaError) -> [UInt8] {
        if let key = keys[reference] { return key }
        let opened = try HLSJoin.open(reference, parent, .key, nested)
        let key: [UInt8]?
        do { key = try SourceBytes(opened.bytes).read(at: 0, 16) } catch { throw Self.failed(error, reference) }
        guard let key, opened.bytes.length == 16 else {
            throw HLSPlaylist.failure(
                "has the key '\(HLSPlaylist.shown(reference))' of \(opened.bytes.length) bytes; AES-128 requires 16")
        }
        // A playlist may change its key with each segment.
        if keys.count >= 64 { keys = [:] }
        keys[reference] = key
        return key
    }

    static func failed(_ error: any Error, _ reference: String) -> MediaError {
        if let error = error as? MediaError { return error }
        return MediaError(
            .source(error), "read the HLS segments", "'\(HLSPlaylist.shown(reference))' could not be read: \(error)")
    }
}

/// Reads a segment from start to end and decrypts it.
struct HLSReader: ~Copyable {
    private let source: SourceBytes
    private let end: Int64
    private let reference: String
    private var offset: Int64
    private var cipher: SegmentCipher?
    private var pending: [UInt8] = []

    private static let step = 256 << 10

    fileprivate init(
        _ source: SourceBytes, _ range: Range<Int64>, _ cipher: (key: [UInt8], vector: [UInt8])?, _ reference: String
    ) throws(MediaError) {
        self.source = source
        offset = range.lowerBound
        end = range.upperBound
        self.reference = reference
        if let cipher { self.cipher = try SegmentCipher(key: cipher.key, vector: cipher.vector) }
    }

    /// The next bytes; `nil` at the end.
    mutating func next() throws -> [UInt8]? {
        if !pending.isEmpty {
            defer { pending = [] }
            return pending
        }
        return try read()
    }

    private mutating func read() throws -> [UInt8]? {
        let count = Int(min(Int64(Self.step), end - offset))
        guard count > 0 else { return nil }
        guard var bytes = try source.read(at: offset, count) else {
            throw HLSPlaylist.failure(
                "refers to '\(HLSPlaylist.shown(reference))', which became shorter while it was read")
        }
        offset += Int64(count)
        guard try decrypt(&bytes) else { return bytes }
        if offset == end {
            guard let padding = SegmentCipher.padding(bytes) else { throw undecryptable("its key is wrong") }
            bytes.removeLast(padding)
        }
        return bytes
    }

    /// Decrypts the bytes; returns `false` if the segment is not encrypted.
    private mutating func decrypt(_ bytes: inout [UInt8]) throws -> Bool {
        guard cipher != nil else { return false }
        guard bytes.count % 16 == 0 else { throw undecryptable("its size is not a multiple of the block size") }
        cipher!.decrypt(&bytes)
        return true
    }

    private func undecryptable(_ why: String) -> MediaError {
        MediaError(
            .corruptMedia, "decrypt the HLS segments",
            "the segment '\(HLSPlaylist.shown(reference))' cannot be decrypted: \(why)")
    }

    /// Skips the ID3 tag at the start of segments of plain AAC, MP3 or AC-3, which only contains their timestamp.
    mutating func skipTag() throws {
        guard let head = try read() else { return }
        pending = head
        guard head.count >= 10, head.starts(with: Array("ID3".utf8)) else { return }
        let size = 10 + head[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) } + (head[5] & 0x10 != 0 ? 10 : 0)
        guard size <= head.count else { return }
        pending = Array(head[size...])
    }
}
