package import Bytes
package import Libav
import MediaTypes

/// Writes one output of a conversion: takes the samples of the range in order, then finishes and checks the output.
///
/// A writer is used by one thread at a time, but not always by the thread that created it.
package protocol RenditionWriter: AnyObject {
    /// The number of samples that the writer copies as packets; `nil` for a writer that takes decoded samples.
    var copies: Int64? { get }

    /// Copies the packets, and reports the samples of each.
    func copy(_ done: (Int64) -> Void) throws(MediaError)

    /// Takes a frame's samples, which have the reader's shape. They are shared with other writers and must not be changed.
    func append(_ frame: borrowing Frame) throws(MediaError)

    /// Finishes and checks the output, and returns its result.
    func finish() throws(MediaError) -> ConversionResult
}

extension RenditionWriter {
    package var copies: Int64? { nil }

    package func copy(_ done: (Int64) -> Void) throws(MediaError) {}
}
