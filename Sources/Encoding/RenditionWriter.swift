package import Bytes
package import Libav
import MediaTypes

/// Makes one output of a conversion: takes the samples of the range in their order, then ends the output and checks it.
///
/// A writer is used by one thread at a time, but not always by the one that made it.
package protocol RenditionWriter: AnyObject {
    /// Samples that the writer copies by itself, as packets; nothing for one that wants them decoded.
    var copies: Int64? { get }

    /// Copies what it copies, and tells of so many samples at a time.
    func copy(_ done: (Int64) -> Void) throws(MediaError)

    /// Takes a frame's samples, which have the reader's shape. Other writers hold the same samples: these are not changed.
    func append(_ frame: borrowing Frame) throws(MediaError)

    /// Ends and checks the output, and says what was made.
    func finish() throws(MediaError) -> ConversionResult
}

extension RenditionWriter {
    package var copies: Int64? { nil }

    package func copy(_ done: (Int64) -> Void) throws(MediaError) {}
}
