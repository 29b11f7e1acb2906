import Lifecycle
import MediaTypes

/// What the writers of a conversion's outputs are made from, and the choice of the right one for each rendition.
struct RenditionWriters {
    let plan: ConversionPlan
    let source: any ByteSource
    let stores: any OutputStores
    let metadata: Metadata
    let stop: StopFlag

    /// The writer of one output; it begins on the thread that calls, and may go on on another.
    func open(_ index: Int, _ reader: borrowing AssetReader) throws(MediaError) -> any RenditionWriter {
        let rendition = plan.renditions[index]
        if AudioFormat.named(rendition.format)?.isSegmented == true {
            return try HLSWriter(stores, output: index, rendition, reader, stop: stop)
        }
        try ChapterFile.write(metadata, rendition.tags, stores, output: index)
        if let copy = try CopyPlan.choose(rendition, source, reader, stop: stop) {
            return PacketCopyWriter(try store(index), source, copy, reader, metadata, rendition.tags, stop: stop)
        }
        return try AudioFileWriter(try store(index), rendition, reader, metadata, stop: stop)
    }

    /// The main file of an output.
    private func store(_ index: Int) throws(MediaError) -> any ByteStore {
        do { return try stores.open(output: index, part: nil) } catch {
            throw MediaError(.store(error), "open the output", "the output could not be opened: \(error)")
        }
    }
}
