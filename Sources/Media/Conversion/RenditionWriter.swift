import MediaTypes

/// Makes one output of a conversion: takes the samples of the range in their order, then ends the output and checks it.
///
/// A writer is used by one thread at a time, but not always by the one that made it.
protocol RenditionWriter: AnyObject {
    /// Whether the writer wants the decoded samples; one that does not reads the source itself when it is to finish.
    var takesSamples: Bool { get }

    /// Takes a frame's samples, which have the reader's shape. Other writers hold the same samples: these are not changed.
    func append(_ frame: borrowing Frame) throws(MediaError)

    /// Ends and checks the output, and says what was made.
    func finish() throws(MediaError) -> ConversionResult
}

extension RenditionWriter {
    var takesSamples: Bool { true }
}
