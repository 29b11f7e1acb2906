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

/// Makes the writer for each rendition of a conversion.
struct RenditionWriters {
    let plan: ConversionPlan
    let source: any ByteSource
    let stores: any OutputStores
    let metadata: Metadata
    /// The analysis result for each rendition that needed one.
    let measurements: [SoundMeasurement?]
    /// The threads of encoders, and of the decoder if an output is encoded again.
    let threads: ThreadBudget
    let stop: CancellationFlag

    /// Opens the writer of one output. It is opened on the calling thread and may continue on another one.
    func open(
        _ index: Int, _ reader: borrowing AssetReader, progress: (Progress) -> Void
    ) throws(MediaError) -> any RenditionWriter {
        let rendition = plan.renditions[index]
        let metadata = metadata(of: index, reader)
        let isOfEveryTrack = plan.source.track == .all && reader.labels.count > 1
        if plan.source.track == .all, let problem = rendition.everyTrackProblems.first {
            throw MediaError(.invalidSettings, "choose settings", problem.description)
        }
        try ChapterFile.write(metadata, rendition.tags, stores, output: index)
        if AudioFormat.named(rendition.format)?.isSegmented == true {
            if rendition.passthrough == .require {
                throw .notCopied("an HLS segment starts and ends with an encoder's packets")
            }
            return try HLSWriter(
                stores, output: index, rendition, reader, metadata, measurements[index], threads: threads, stop: stop)
        }
        if isOfEveryTrack {
            return try EveryTrackWriter(
                try store(index), rendition, source, plan.source, reader, metadata, stop: stop)
        }
        if let picture = AudioFormat.named(rendition.format)?.picture {
            return try PictureWriter(try store(index), picture, rendition, reader, measurements[index])
        }
        if let copy = try CopyPlan.choose(rendition, source, reader, stop: stop, progress: progress) {
            try plan.source.limits.check(samples: reader.first + copy.span.samples, rate: copy.settings.shape.rate)
            return PacketCopyWriter(
                try store(index), source, plan.source, copy, reader, metadata, rendition.tags, stop: stop)
        }
        return try openFile(index, reader)
    }

    /// Opens the writer of a single audio file, with its level lowered by `lowering` dB.
    func openFile(
        _ index: Int, _ reader: borrowing AssetReader, lowering: Double = 0
    ) throws(MediaError) -> AudioFileWriter {
        try AudioFileWriter(
            try store(index), plan.renditions[index], reader, metadata(of: index, reader), measurements[index],
            lowering: lowering, threads: threads, stop: stop)
    }

    /// The source's metadata, adjusted to a rendition's range and level.
    private func metadata(of index: Int, _ reader: borrowing AssetReader) -> Metadata {
        let sound = plan.renditions[index].sound
        var metadata = metadata
        if sound.changesLevel { metadata.forgetLevel() }
        if sound.trimSilence != nil, let kept = measurements[index]?.sound {
            metadata.cut(first: kept.lowerBound, end: kept.upperBound, rate: reader.shape.rate)
        }
        if let tempo = sound.tempo { metadata.move(to: tempo) }
        if sound.replayGain == .track, let measurement = measurements[index] {
            let isOpus = (try? plan.renditions[index].validate())?.codec.words.loudness == .r128
            for (name, value) in measurement.replayGain(sound, isOpus: isOpus) { metadata.texts[name] = [value] }
        }
        return metadata
    }

    /// Opens the main file of an output.
    private func store(_ index: Int) throws(MediaError) -> any RandomAccessOutput {
        do { return try stores.open(output: index, part: nil) } catch {
            throw MediaError(.store(error), "open the output", "the output could not be opened: \(error)")
        }
    }
}
