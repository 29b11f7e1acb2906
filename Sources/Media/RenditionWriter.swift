import MediaTypes

/// Makes one output of a conversion: takes the samples of the range in their order, then ends the output and checks it.
protocol RenditionWriter: AnyObject {
    /// Takes a frame's samples, which have the reader's shape.
    func append(_ frame: borrowing Frame) throws(MediaError)

    /// Whether it makes anything of the samples.
    var takesSamples: Bool { get }

    /// Ends and checks the output, and says what was made.
    func finish() throws(MediaError) -> ConversionResult
}

extension RenditionWriter {
    var takesSamples: Bool { true }
}
