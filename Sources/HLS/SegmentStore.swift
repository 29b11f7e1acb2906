import Bytes
import Text

/// Bytes that only ever go on, from one file of an output to the next.
final class SegmentStore: RandomAccessOutput {
    private let stores: any OutputStores
    private let output: Int
    /// The file that is open, its part, and where it begins among all bytes.
    private var file: (any RandomAccessOutput)?
    private var part: String?
    private var start: Int64 = 0
    private(set) var length: Int64 = 0

    init(_ stores: any OutputStores, output: Int) {
        self.stores = stores
        self.output = output
    }

    struct NoFile: Error {}

    /// Begins a part and answers what playlists call it.
    func begin(_ part: String) throws(MediaError) -> String {
        try Self.told {
            file = try stores.open(output: output, part: part)
            (self.part, start) = (part, length)
            // A colon in the first part of a relative URL would end its scheme (RFC 3986 section 4.2).
            return PercentEncoding.encoded(path: try stores.placeName(output: output, part: part)).replacing(
                ":", with: "%3A")
        }
    }

    /// Begins the output's main file.
    func beginMain() throws(MediaError) {
        try Self.told {
            file = try stores.open(output: output, part: nil)
            (part, start) = (nil, length)
        }
    }

    /// The bytes of the open file.
    func source() -> any ByteSource { StoredSource(file!) }

    /// Ends the open file, which is released with it, and answers its length in bytes.
    func end() throws(MediaError) -> Int64 {
        file = nil
        try Self.told { if let part { try stores.finish(output: output, part: part) } }
        return length - start
    }

    func append(_ bytes: some Sequence<UInt8>) throws(MediaError) {
        let bytes = Array(bytes)
        try Self.told { try bytes.withUnsafeBytes { try write($0, at: length) } }
    }

    /// Writes at the end, wherever a muxer that counts only its own bytes believes to be.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        guard let file else { throw NoFile() }
        try file.write(bytes, at: length - start)
        length += Int64(bytes.count)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int { throw NoFile() }

    private static func told<Value>(_ body: () throws -> Value) throws(MediaError) -> Value {
        do { return try body() } catch {
            throw MediaError(.store(error), "write the output", "the output could not be written: \(error)")
        }
    }
}
