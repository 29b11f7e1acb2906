package import MediaTypes

/// Bytes that libav reads, on the conversion's thread or an output's thread. A read may block.
package protocol ByteSource: AnyObject {
    /// The total length in bytes; `Int64.max` for an endless stream.
    var length: Int64 { get }

    /// Whether all bytes are already present, so that reading the end costs no more than reading the start.
    var isAllPresent: Bool { get }

    /// Whether the source is an endless stream, which can only be read sequentially.
    var isEndless: Bool { get }

    /// Fills a prefix of the buffer with the bytes at an offset. Returns the number of bytes; zero at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int

    /// Returns and removes the titles of a radio stream that arrived since the last call.
    func takeTitles() -> [StreamTitle]
}

extension ByteSource {
    package var isEndless: Bool { false }
    package func takeTitles() -> [StreamTitle] { [] }
}

extension ByteSource {
    package var isAllPresent: Bool { true }
}
