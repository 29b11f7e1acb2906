/// A file in progress that libav writes and reads back.
package protocol RandomAccessOutput: AnyObject {
    /// The number of bytes written so far, up to the highest offset.
    var length: Int64 { get throws }

    /// Writes all bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// Fills a prefix of the buffer with the bytes at an offset. Returns the number of bytes; zero at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension RandomAccessOutput {
    /// The length; throws the output's failure as a `MediaError`.
    package func measuredLength() throws(MediaError) -> Int64 {
        do { return try length } catch {
            throw MediaError(.store(error), "measure the output", "the output could not be measured: \(error)")
        }
    }
}
