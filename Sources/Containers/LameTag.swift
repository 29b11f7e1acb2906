package import Bytes

/// What an encoder wrote into the first frame of an MP3: how many samples at both ends are no audio.
package struct LameTag {
    /// Samples that a decoder gives before the first of the source.
    package let delay: Int64
    /// Samples, the delay among them, after which padding begins, and ends.
    package let padding: Range<Int64>

    /// A decoder's own delay.
    private static let decoderDelay: Int64 = 529

    /// Finds the tag before the first frame of audio; nothing if there is none that libav honours as well.
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
