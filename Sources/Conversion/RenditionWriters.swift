import Bytes
import Decoding
import Encoding
import Filters
import HLS
import Libav
import Lifecycle
import MediaTypes
import Pictures
import Tags

/// What the writers of a conversion's outputs are made from, and the choice of the right one for each rendition.
struct RenditionWriters {
    let plan: ConversionPlan
    let source: any ByteSource
    let stores: any OutputStores
    let metadata: Metadata
    /// What a first reading found for each rendition that needed one.
    let measurements: [SoundMeasurement?]
    let stop: CancellationFlag

    /// The writer of one output; it begins on the thread that calls, and may go on on another.
    func open(
        _ index: Int, _ reader: borrowing AssetReader, progress: (Progress) -> Void
    ) throws(MediaError) -> any RenditionWriter {
        let rendition = plan.renditions[index]
        let metadata = metadata(of: index, reader)
        let isOfEveryTrack = plan.source.track == .all && reader.labels.count > 1
        if plan.source.track == .all {
            do { try rendition.checkEveryTrack() } catch {
                throw MediaError(.invalidSettings, "choose settings", error.description)
            }
        }
        try ChapterFile.write(metadata, rendition.tags, stores, output: index)
        if AudioFormat.named(rendition.format)?.isSegmented == true {
            if rendition.passthrough == .require { throw .notCopied("segments begin and end where encoders do") }
            return try HLSWriter(
                stores, output: index, rendition, reader, metadata, measurements[index], stop: stop)
        }
        if isOfEveryTrack {
            return try EveryTrackWriter(
                try store(index), rendition, source, plan.source, reader, metadata, stop: stop)
        }
        if AudioFormat.named(rendition.format)?.isPicture == true {
            return try PictureWriter(try store(index), rendition, reader, measurements[index])
        }
        if let copy = try CopyPlan.choose(rendition, source, reader, stop: stop, progress: progress) {
            try plan.source.limits.check(samples: reader.first + copy.span.samples, rate: copy.settings.shape.rate)
            return PacketCopyWriter(
                try store(index), source, plan.source, copy, reader, metadata, rendition.tags, stop: stop)
        }
        return try openFile(index, reader)
    }

    /// The writer of an output that is one file of encoded audio, lowered by so many decibels.
    func openFile(
        _ index: Int, _ reader: borrowing AssetReader, lowering: Double = 0
    ) throws(MediaError) -> AudioFileWriter {
        try AudioFileWriter(
            try store(index), plan.renditions[index], reader, metadata(of: index, reader), measurements[index],
            lowering: lowering, stop: stop)
    }

    /// What is known of the source, as it is true of a rendition.
    private func metadata(of index: Int, _ reader: borrowing AssetReader) -> Metadata {
        let sound = plan.renditions[index].sound
        var metadata = metadata
        if sound.changesLevel { metadata.forgetLevel() }
        guard let measurement = measurements[index] else { return metadata }
        if sound.trimSilence != nil, let kept = measurement.sound {
            metadata.cut(first: kept.lowerBound, end: kept.upperBound, rate: reader.shape.rate)
        }
        if sound.replayGain == .track {
            let isOpus = (try? plan.renditions[index].validate())?.codec.name == "opus"
            for (name, value) in measurement.replayGain(sound, isOpus: isOpus) { metadata.texts[name] = [value] }
        }
        return metadata
    }

    /// The main file of an output.
    private func store(_ index: Int) throws(MediaError) -> any RandomAccessOutput {
        do { return try stores.open(output: index, part: nil) } catch {
            throw MediaError(.store(error), "open the output", "the output could not be opened: \(error)")
        }
    }
}
