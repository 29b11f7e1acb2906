package import MediaTypes

/// Bytes that libav reads, on the thread that converts or on that of an output; a read may block.
package protocol ByteSource: AnyObject {
    /// The whole length in bytes; the largest number there is for a stream without an end.
    var length: Int64 { get }

    /// Whether no byte is still on its way, so that a read at the end costs no more than one at the start.
    var isAllPresent: Bool { get }

    /// Whether it is a stream without an end, of which only what comes next can be read.
    var isEndless: Bool { get }

    /// Fills a prefix of the buffer with the bytes at an offset and answers its length; zero is the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int

    /// The titles of a radio stream that came since they were last taken.
    func takeTitles() -> [StreamTitle]
}

extension ByteSource {
    package var isEndless: Bool { false }
    package func takeTitles() -> [StreamTitle] { [] }
}

extension ByteSource {
    package var isAllPresent: Bool { true }
}
