/// Bytes that libav reads, on the thread that converts; a read may block.
package protocol ByteSource: AnyObject {
    /// The whole length in bytes.
    var length: Int64 { get }

    /// Whether no byte is still on its way, so that a read at the end costs no more than one at the start.
    var isAllPresent: Bool { get }

    /// Fills a prefix of the buffer with the bytes at an offset and answers its length; zero is the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension ByteSource {
    package var isAllPresent: Bool { true }
}
