/// A file in the making that libav writes, and reads back, on the thread that converts.
package protocol RandomAccessOutput: AnyObject {
    /// The bytes written so far, up to the highest offset.
    var length: Int64 { get throws }

    /// Writes all the bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// Fills a prefix of the buffer with the bytes at an offset and answers its length; zero is the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int
}

extension RandomAccessOutput {
    /// The length, or the failure of the output that hides it.
    package func measuredLength() throws(MediaError) -> Int64 {
        do { return try length } catch {
            throw MediaError(.store(error), "measure the output", "the output could not be measured: \(error)")
        }
    }
}
