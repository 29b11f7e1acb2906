package import Bytes
import CLibav
package import Decoding
import Encoders
package import Libav
package import Lifecycle
package import MediaTypes

/// The plan of a stream copy to one output.
package struct CopyPlan {
    /// The settings of the output, whose codec and sample shape equal the source's.
    package let settings: EncodingSettings
    /// The packets to copy.
    package let span: PacketSpan
    /// The stream's index in the source.
    let track: Int
    let hiding: GaplessSignaling
    /// By job field name.
    let effective: [String: Setting]

    /// Samples before and after the range that the container cannot hide.
    var gapless: Gapless {
        Gapless(
            start: hiding.hides(lead: span.lead, of: settings.codec) ? 0 : Int(span.lead),
            end: hiding.hides(trail: span.trail, lead: span.lead, of: settings.codec) ? 0 : Int(span.trail))
    }

    /// The plan for a rendition; `nil` if it has to be encoded. Throws if a copy is required and cannot be exact.
    package static func choose(
        _ rendition: Rendition, _ source: any ByteSource, _ reader: borrowing AssetReader, stop: CancellationFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> CopyPlan? {
        guard rendition.passthrough != .never else { return nil }
        guard !source.isEndless else {
            guard rendition.passthrough == .require else { return nil }
            throw .notCopied("the source is an endless stream")
        }
        do throws(MediaError) { return try make(rendition, source, reader, stop, progress) } catch {
            switch error.reason {
            case .cancelled, .source: throw error
            // The decoder will find any other defect of the source as well, and handle it.
            default:
                guard rendition.passthrough == .require else { return nil }
                throw error
            }
        }
    }

    private static func make(
        _ rendition: Rendition, _ source: any ByteSource, _ reader: borrowing AssetReader, _ stop: CancellationFlag,
        _ progress: (Progress) -> Void
    ) throws(MediaError) -> CopyPlan? {
        let settings = try EncodingSettings.resolve(rendition, reader.shape, reader.depth)
        let track = reader.declaredTrack
        // Uncompressed samples need no stream copy: their conversion is lossless.
        if settings.codec.kind == .pcm && track.isPCM && settings.sampleFormat == reader.depth.sampleFormat {
            return nil
        }
        guard track.codec == settings.codecID else {
            throw .notCopied("the source is \(track.codecName), and the result is \(settings.codec.name)")
        }
        guard track.rate == reader.shape.rate, track.channels == reader.shape.channels else {
            throw .notCopied("its header does not declare the parameters of its audio")
        }
        if reader.compression?.requested != nil {
            throw .notCopied("the job sets `drc`, which requires decoding")
        }
        if let wish = differing(rendition, reader, bitRate: track.bitRate) {
            throw .notCopied("the job sets another \(wish) than the source has")
        }
        var meter = ProgressMeter(reader, phase: .analyzing)
        let span = try PacketScan.run(
            source, track: track.index, first: reader.first, end: reader.end, stop: stop
        ) { samples, byteFraction in
            if let report = meter.report(reader, scanned: (samples, byteFraction)) { progress(report) }
        }
        let hiding = settings.format.container.gapless
        let plan = CopyPlan(
            settings: settings, span: span, track: track.index, hiding: hiding,
            effective: settings.effective(copying: track.bitRate, reader))
        try plan.check()
        return plan
    }

    /// Throws for a cut after which samples outside of the range would be audible.
    private func check() throws(MediaError) {
        guard settings.format.copies(settings.codec) else {
            throw .notCopied(
                "\(settings.codec.name) in \(settings.format.name) does not declare the duration of a packet")
        }
        guard !span.isWhole else { return }
        guard hiding.hides(lead: span.lead, of: settings.codec) else {
            throw .notCopied("\(settings.format.name) cannot mark the \(span.lead) samples before the range as skipped")
        }
        guard hiding.hides(trail: span.trail, lead: span.lead, of: settings.codec) else {
            throw .notCopied("\(settings.format.name) cannot mark the \(span.trail) samples after the range as skipped")
        }
        // libav returns no audio for an edit within one packet.
        if case .editList = hiding, span.isWithinPacket { throw .notCopied("the range is shorter than two packets") }
    }

    /// The name of a setting that a copy would not satisfy; `nil` if there is none.
    private static func differing(
        _ rendition: Rendition, _ reader: borrowing AssetReader, bitRate: Int
    ) -> String? {
        if let wish = rendition.bitRate, wish != bitRate { return "bit_rate" }
        if rendition.quality != nil { return "quality" }
        if let name = rendition.encoder.requested.keys.min() { return name }
        if let wish = rendition.sampleRate, wish != reader.shape.rate { return "sample_rate" }
        if let wish = rendition.channels, wish != reader.shape.channels { return "channels" }
        if let wish = rendition.sampleFormat, wish.base != reader.depth.sampleFormat { return "sample_format" }
        if rendition.sound.dither != nil { return "dither" }
        // All other settings change the sound.
        var rest = rendition
        (rest.bitRate, rest.sampleRate, rest.channels, rest.sampleFormat) = (nil, nil, nil, nil)
        rest.tags = TagSettings()
        var plain = Rendition(format: rendition.format, codec: rendition.codec)
        plain.passthrough = rendition.passthrough
        return rest == plain ? nil : "sound"
    }
}

extension EncodingSettings {
    /// libav's codec ID of the output.
    var codecID: AVCodecID? {
        avcodec_find_encoder_by_name(codec.encoderName(sampleFormat, format.byteOrder))?.pointee.id
    }

    /// The settings of a copied output, which are the source's.
    fileprivate func effective(copying bitRate: Int, _ reader: borrowing AssetReader) -> [String: Setting] {
        var effective = self.effective
        effective["quality"] = nil
        effective["bit_rate_mode"] = nil
        effective["bit_rate"] =
            bitRate > 0 ? Setting(requested: effective["bit_rate"]?.requested, effective: String(bitRate)) : nil
        effective["channel_layout"] = Setting(
            requested: effective["channel_layout"]?.requested, effective: reader.shape.layout.description)
        return effective
    }
}
