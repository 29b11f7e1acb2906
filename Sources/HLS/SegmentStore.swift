import Bytes
import Text

/// A sequential store that spans the files of an output.
final class SegmentStore: RandomAccessOutput {
    private let stores: any OutputStores
    private let output: Int
    /// The open file, its part name, and its start offset in the whole sequence.
    private var file: (any RandomAccessOutput)?
    private var part: String?
    private var start: Int64 = 0
    private(set) var length: Int64 = 0

    init(_ stores: any OutputStores, output: Int) {
        self.stores = stores
        self.output = output
    }

    struct NoFile: Error {}

    /// Opens a part and returns its name in playlists.
    func begin(_ part: String) throws(MediaError) -> String {
        try Self.mappingErrors {
            file = try stores.open(output: output, part: part)
            (self.part, start) = (part, length)
            // A colon in the first segment of a relative URL would be read as the end of a scheme (RFC 3986 section 4.2).
            return PercentEncoding.encoded(path: try stores.placeName(output: output, part: part)).replacing(
                ":", with: "%3A")
        }
    }

    /// Opens the output's main file.
    func beginMain() throws(MediaError) {
        try Self.mappingErrors {
            file = try stores.open(output: output, part: nil)
            (part, start) = (nil, length)
        }
    }

    /// The contents of the open file.
    func source() -> any ByteSource { StoredSource(file!) }

    /// Finishes and releases the open file. Returns its length in bytes.
    func end() throws(MediaError) -> Int64 {
        file = nil
        try Self.mappingErrors { if let part { try stores.finish(output: output, part: part) } }
        return length - start
    }

    func append(_ bytes: some Sequence<UInt8>) throws(MediaError) {
        let bytes = Array(bytes)
        try Self.mappingErrors { try bytes.withUnsafeBytes { try write($0, at: length) } }
    }

    /// Appends at the end. The offset is ignored, because the muxer counts only its own bytes.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        guard let file else { throw NoFile() }
        try file.write(bytes, at: length - start)
        length += Int64(bytes.count)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int { throw NoFile() }

    private static func mappingErrors<Value>(_ body: () throws -> Value) throws(MediaError) -> Value {
        do { return try body() } catch {
            throw MediaError(.store(error), "write the output", "the output could not be written: \(error)")
        }
    }
}
