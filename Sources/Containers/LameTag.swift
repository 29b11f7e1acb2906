package import Bytes

/// The encoder delay and padding that LAME's tag in the first frame of an MP3 file declares.
package struct LameTag {
    /// Samples that a decoder returns before the first sample of the source.
    package let delay: Int64
    /// The sample range of the padding, counted with the delay.
    package let padding: Range<Int64>

    /// The decoder's delay.
    private static let decoderDelay: Int64 = 529

    /// Finds the tag before the first audio frame; `nil` if there is none that libav applies as well.
    package init?(_ source: any ByteSource, before offset: Int64, samples: Int64) throws {
        // The longest frame is 1,441 bytes.
        let start = max(offset - 1441, 0)
        guard let bytes = try SourceBytes(source).read(at: start, Int(offset - start)),
            let mark = bytes.indices.last(where: { XingFields.begins(bytes[$0...]) }),
            let fields = XingFields(bytes[mark...]), let frames = fields.frames, frames > 0,
            let delay = fields.delay, let padding = fields.padding
        else { return nil }
        self.delay = delay + Self.decoderDelay
        let end = frames * samples
        self.padding = min(end - padding + Self.decoderDelay, end)..<end
    }
}
