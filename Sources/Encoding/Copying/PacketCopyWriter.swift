package import Bytes
import CLibav
import Containers
package import Decoding
import Demuxing
package import Libav
package import Lifecycle
package import MediaTypes
import Tags

/// Writes an output by copying the source's packets.
package final class PacketCopyWriter: RenditionWriter {
    private let store: any RandomAccessOutput
    private let source: any ByteSource
    private let plan: CopyPlan
    private var tags: TagWriter
    private let rate: Int
    private var sourceWarnings: [Warning]
    private let sourceSettings: SourceSettings
    private let stop: CancellationFlag
    /// What the source's end shows, once the packets are copied.
    private var endWarnings: [Warning] = []

    /// Writes nothing yet; `copy` opens the source again with a separate demuxer.
    package init(
        _ store: any RandomAccessOutput, _ source: any ByteSource, _ sourceSettings: SourceSettings, _ plan: CopyPlan,
        _ reader: borrowing AssetReader, _ metadata: Metadata, _ wish: TagSettings, stop: CancellationFlag
    ) {
        self.store = store
        self.source = source
        self.sourceSettings = sourceSettings
        self.plan = plan
        self.stop = stop
        rate = reader.shape.rate
        sourceWarnings = reader.containerWarnings
        tags = TagWriter(
            metadata, wish, format: plan.settings.format, codec: plan.settings.codec, rate: rate, sourceRate: rate,
            layout: reader.shape.layout)
    }

    package var copies: Int64? { plan.span.samples }

    package func append(_ frame: borrowing Frame) {}

    package func finish() throws(MediaError) -> ConversionResult {
        if tags.usesITunSMPB {
            let span = plan.span
            tags.setGapless(priming: span.lead, padding: span.trail, samples: span.samples)
        }
        try tags.finish(store)
        try check()
        let bytes = try store.measuredLength()
        var result = ConversionResult(
            plan.settings, rate: rate, samples: plan.span.samples, bytes: bytes, gapless: plan.gapless,
            effective: plan.effective, warnings: sourceWarnings + endWarnings + tags.warnings)
        result.copied = true
        if plan.span.isShort {
            let warning = Warning(
                .rangeCut, "the range ends after the source, which is \(result.seconds) s long")
            result.warnings.insert(warning, at: 0)
        }
        guard plan.settings.codec.words.holdsSum else { return result }
        // A copy keeps the declared MD5, whatever the frames contain.
        let finding = try SourceChecksum.check(source, sourceSettings, stop: stop)
        result.damage = finding.damage
        result.warnings += finding.warnings.filter { !result.warnings.map(\.code).contains($0.code) }
        if finding.areDeclared {
            result.audioMD5 = try FlacHeader.md5(in: store, as: plan.settings.format.container.demuxer, stop: stop)
        }
        return result
    }

    package func copy(_ done: (Int64) -> Void) throws(MediaError) {
        let demuxer = try Demuxer.open(source, stop: stop)
        if plan.span.isWhole {
            let following = try FollowingFile.warning(demuxer.whole, demuxer.descriptor)
            endWarnings = [following, try Truncation.unmarkedEnd(demuxer.whole, demuxer.descriptor)].compactMap { $0 }
        }
        let track = try demuxer.track(plan.track)
        let stream = demuxer.stream(track.index)
        var lengths = try CopiedPackets.open(stream, track)
        let muxer = try Muxer.open(store, plan.settings, stop: stop)
        let span = plan.span
        let isHidden = plan.gapless.start == 0
        try muxer.start(
            copying: stream, plan.settings, lead: isHidden ? span.lead : 0,
            tags: tags.header)
        let packet = try Packet()
        var number: Int64 = 0
        var time = isHidden ? -span.lead : 0
        while number <= span.last, try demuxer.next(into: packet) {
            guard packet.streamIndex == track.index, var length = try lengths.samples(of: packet) else {
                packet.clear()
                continue
            }
            defer { number += 1 }
            guard number >= span.first else {
                packet.clear()
                continue
            }
            if number == span.first && track.codec == AV_CODEC_ID_VORBIS { length = 0 }
            let discard = number == span.last && plan.gapless.end == 0 ? span.trail : 0
            // libav's MP3 muxer reads the delay from the first packet whose skip exceeds the decoder's 529 samples. If there is
            // none, it reads it from the last packet. It changes a skip below 529 to 4095. It reads the padding from the last
            // packet, if it declares any.
            let isEdge = track.codec == AV_CODEC_ID_MP3 && (number == span.first || number == span.last)
            let skip = isEdge && isHidden ? span.lead : 0
            packet.place(at: time, duration: length - discard)
            if skip > 0 || discard > 0 || isEdge && number == span.last {
                try packet.trim(skip: skip, discard: discard)
            } else {
                packet.forgetTrim()
            }
            time += length
            try muxer.write(packet, rate: rate)
            done(length)
        }
        // Some are known only at the end.
        sourceWarnings += demuxer.warnings.filter { !sourceWarnings.contains($0) }
        guard number > span.last else {
            throw MediaError(.internal, "copy the audio", "the source had fewer packets in the second reading")
        }
        try muxer.finish()
    }

    /// Checks the packets of the finished file.
    private func check() throws(MediaError) {
        try store.endWriting()
        let found: PacketSpan
        do throws(MediaError) { found = try PacketScan.run(StoredSource(store), stop: stop) } catch {
            if case .cancelled = error.reason { throw error }
            throw MediaError(
                .corruptMedia, "check the output",
                "a copy of the source's packets cannot be read (\(error.sentence)); set `passthrough` to `never` to encode them"
            )
        }
        let expected = plan.span.samples + Int64(plan.gapless.start + plan.gapless.end)
        let slack = plan.settings.codec.packets.copySlack
        guard (expected - slack...expected + slack).contains(found.samples) else {
            throw MediaError(
                .internal, "check the output",
                "a copy of the source's packets has \(found.samples) samples, "
                    + "not \(expected); set `passthrough` to `never` to encode them"
            )
        }
    }
}
