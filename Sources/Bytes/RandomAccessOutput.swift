/// A file in progress that libav writes and reads back.
package protocol RandomAccessOutput: AnyObject {
    /// The number of bytes written so far, up to the highest offset.
    var length: Int64 { get throws }

    /// Writes all bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws

    /// Fills a prefix of the buffer with the bytes at an offset. Returns the number of bytes; zero at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int

    /// Ends writing. From now on the file is only read, and its owner may hash it meanwhile.
    func seal() throws
}

extension RandomAccessOutput {
    package func seal() throws {}

    /// Ends writing; throws the output's failure as a `MediaError`.
    package func endWriting() throws(MediaError) {
        do { try seal() } catch {
            throw MediaError(.store(error), "complete the output", "the output could not be completed: \(error)")
        }
    }

    /// The length; throws the output's failure as a `MediaError`.
    package func measuredLength() throws(MediaError) -> Int64 {
        do { return try length } catch {
            throw MediaError(.store(error), "measure the output", "the output could not be measured: \(error)")
        }
    }
}
