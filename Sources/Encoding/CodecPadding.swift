import CLibav
package import Encoders
package import Libav
package import MediaTypes

/// The samples that a codec adds at the start and the end of the audio.
package struct CodecPadding {
    /// Silent samples that the encoder receives first and last, so that a decoder loses no true sample.
    let lead: Int
    let tail: Int
    /// Samples that a decoder without gapless information returns before the first true one.
    let start: Int
    /// The samples in a packet; `nil` if packets differ.
    let frameSize: Int?

    /// Takes the delay from the open encoder, because libav sets it when the encoder opens.
    package init(_ encoder: borrowing Encoder, _ settings: EncodingSettings) {
        let delay = Int(encoder.context.pointee.initial_padding)
        frameSize = encoder.frameSize
        switch settings.codec.edges.padding {
        case .delay: (lead, tail, start) = (0, 0, delay)
        case .wholeFrames: (lead, tail, start) = (frameSize!, frameSize!, 0)
        case .delayBehind: (lead, tail, start) = (0, delay, delay)
        case .delayBehindAndLate:
            let late = settings.codec.edges.padding.late(rate: settings.shape.rate)
            (lead, tail, start) = (0, delay + late, delay + late)
        }
    }

    /// Samples in the packets after the last true one.
    func remainder(packets: Int, samples: Int64) -> Int64 {
        frameSize.map { max(Int64(packets * $0 - start) - samples, 0) } ?? 0
    }

    /// The samples at both ends that a decoder returns in addition to the true ones.
    package func gapless(_ settings: EncodingSettings, packets: Int, samples: Int64) -> Gapless {
        let declared = Gapless(start: 0, end: 0)
        guard settings.codec.kind == .lossy, let frameSize else { return declared }
        let decoded = (packets - (lead > 0 ? 1 : 0)) * frameSize
        let undeclared = Gapless(start: start, end: decoded - start - Int(samples))
        switch (settings.format.container.gapless, settings.codec.edges.declared) {
        case (.none, _), (_, .nowhere), (.codecDelay, .elsewhereThanInMatroska): return undeclared
        case (.codecDelay, .lastInMatroska): return Gapless(start: start, end: 0)
        case (.codecDelay, .everywhere), (.lameTag, _), (.granules, _), (.editList, _): return declared
        }
    }
}

/// Computes the samples of each Vorbis packet; owns an `AVVorbisParseContext`.
struct VorbisLengths: ~Copyable {
    private let context: OpaquePointer

    init?(_ encoder: borrowing Encoder) {
        let (header, size) = (encoder.context.pointee.extradata, encoder.context.pointee.extradata_size)
        guard let context = av_vorbis_parse_init(header, size) else { return nil }
        self.context = context
    }

    deinit {
        var context: OpaquePointer? = context
        av_vorbis_parse_free(&context)
    }

    /// The samples of the next packet. It must be called for every packet in order.
    borrowing func next(_ packet: borrowing Packet) -> Int64 {
        Int64(max(av_vorbis_parse_frame(context, packet.pointer.pointee.data, packet.pointer.pointee.size), 0))
    }
}
