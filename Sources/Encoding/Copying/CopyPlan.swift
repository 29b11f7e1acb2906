package import Bytes
import CLibav
package import Decoding
package import Libav
package import Lifecycle
package import MediaTypes

/// What is copied of a source into one output, without decoding it.
package struct CopyPlan {
    package let settings: EncodingSettings
    package let span: PacketSpan
    /// The stream's place in the source.
    let track: Int
    let hiding: GaplessSignaling
    /// By their names in a job.
    let effective: [String: Setting]

    /// Samples before and after the range that the container cannot hide.
    var gapless: Gapless {
        Gapless(
            start: hiding.hides(lead: span.lead, of: settings.codec.name) ? 0 : Int(span.lead),
            end: hiding.hides(trail: span.trail, lead: span.lead, of: settings.codec.name) ? 0 : Int(span.trail))
    }

    /// The plan for a rendition, or nothing if it is to be encoded; fails where copying is required and cannot be exact.
    package static func choose(
        _ rendition: Rendition, _ source: any ByteSource, _ reader: borrowing AssetReader, stop: CancellationFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> CopyPlan? {
        guard rendition.passthrough != .never else { return nil }
        guard !source.isEndless else {
            guard rendition.passthrough == .require else { return nil }
            throw .notCopied("the source is a stream without an end")
        }
        do throws(MediaError) { return try make(rendition, source, reader, stop, progress) } catch {
            switch error.reason {
            case .cancelled, .source: throw error
            // Whatever else is wrong with the source, the decoder finds it as well, and knows what to make of it.
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
        // Uncompressed samples have no packets worth the name: converting them is a copy.
        if settings.codec.kind == .pcm && track.isPCM && settings.sampleFormat == reader.depth.sampleFormat {
            return nil
        }
        guard track.codec == settings.codecID else {
            throw .notCopied("the source is \(track.codecName) and the result \(settings.codec.name)")
        }
        guard track.rate == reader.shape.rate, track.channels == reader.shape.channels else {
            throw .notCopied("its header does not tell how it sounds")
        }
        if reader.compression?.requested != nil {
            throw .notCopied("the job asks for a `drc`, which is applied where packets are decoded")
        }
        if let wish = differing(rendition, reader, bitRate: track.bitRate) {
            throw .notCopied("the job asks for another \(wish) than the source has")
        }
        var meter = ProgressMeter(reader, phase: .analyzing)
        let span = try PacketScan.run(
            source, track: track.index, first: reader.first, end: reader.end, stop: stop
        ) { samples, byteFraction in
            if let report = meter.report(reader, scanned: (samples, byteFraction)) { progress(report) }
        }
        let hiding = GaplessSignaling(settings.format)
        let plan = CopyPlan(
            settings: settings, span: span, track: track.index, hiding: hiding,
            effective: settings.effective(copying: track.bitRate, reader))
        try plan.check()
        return plan
    }

    /// Fails for a cut whose samples beside the range would be heard.
    private func check() throws(MediaError) {
        // There Opus has no header that would keep its pre-skip, and WavPack loses the one that tells its length.
        if [["caf", "opus"], ["mka", "wavpack"]].contains([settings.format.name, settings.codec.name]) {
            throw .notCopied("\(settings.codec.name) in \(settings.format.name) does not tell how long a packet is")
        }
        guard !span.isWhole else { return }
        guard hiding.hides(lead: span.lead, of: settings.codec.name) else {
            throw .notCopied("\(settings.format.name) cannot hide the \(span.lead) samples that come before the range")
        }
        guard hiding.hides(trail: span.trail, lead: span.lead, of: settings.codec.name) else {
            throw .notCopied("\(settings.format.name) cannot hide the \(span.trail) samples that come after the range")
        }
        // libav gives nothing of an edit that lies within one packet.
        if case .editList = hiding, span.isWithinPacket { throw .notCopied("the range is shorter than two packets") }
    }

    /// The name of a setting that a copy would not meet.
    private static func differing(
        _ rendition: Rendition, _ reader: borrowing AssetReader, bitRate: Int
    ) -> String? {
        if let wish = rendition.bitRate, wish != bitRate { return "bit_rate" }
        if rendition.quality != nil { return "quality" }
        if let wish = rendition.sampleRate, wish != reader.shape.rate { return "sample_rate" }
        if let wish = rendition.channels, wish != reader.shape.channels { return "channels" }
        if let wish = rendition.sampleFormat, wish.base != reader.depth.sampleFormat { return "sample_format" }
        // Whatever else there is to ask for changes the sound.
        var rest = rendition
        (rest.bitRate, rest.sampleRate, rest.channels, rest.sampleFormat) = (nil, nil, nil, nil)
        rest.tags = TagSettings()
        var plain = Rendition(format: rendition.format, codec: rendition.codec)
        plain.passthrough = rendition.passthrough
        return rest == plain ? nil : "sound"
    }
}

extension EncodingSettings {
    /// libav's number of the codec in the file.
    var codecID: AVCodecID? {
        avcodec_find_encoder_by_name(codec.encoderName(sampleFormat, format.byteOrder))?.pointee.id
    }

    /// The settings of a result that has what the source has.
    fileprivate func effective(copying bitRate: Int, _ reader: borrowing AssetReader) -> [String: Setting] {
        var effective = self.effective
        effective["quality"] = nil
        effective["bit_rate"] =
            bitRate > 0 ? Setting(requested: effective["bit_rate"]?.requested, effective: String(bitRate)) : nil
        effective["channel_layout"] = Setting(
            requested: effective["channel_layout"]?.requested, effective: reader.shape.layout.description)
        return effective
    }
}
