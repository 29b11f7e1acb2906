package import Bytes
import Decoding
import Encoders
package import Encoding
import Libav
package import Lifecycle
package import MediaTypes

/// Converts a source's audio to finished outputs in one pass.
package enum Converter {
    /// Converts a range of a source and checks the results. It blocks, and reports progress on the calling thread at most ten
    /// times a second. `threads` are those that encode, measure and decode beside the calling one; several outputs have one
    /// decoder.
    ///
    /// A single encoded output is made on the calling thread. Several outputs have a thread each, and the slowest one limits
    /// the speed. Outputs that copy packets also have a thread each, and run one after the other. A failure of the source fails
    /// the whole conversion. A failure of one of several outputs is that output's own result, unless the plan is atomic or all
    /// outputs have failed.
    package static func run(
        source: any ByteSource, stores: any OutputStores, plan: ConversionPlan, threads: ThreadBudget = .one,
        stop: CancellationFlag, progress: (Progress) -> Void
    ) throws(MediaError) -> [Result<ConversionResult, MediaError>] {
        progress(Progress(phase: .opening))
        let measurements = try SoundAnalysis.run(source, plan, threads: threads, stop: stop, progress: progress)
        var reader = try AssetReader.open(
            source, plan.source, threads: plan.renditions.count == 1 ? threads : .one, stop: stop)
        let metadata = try reader.metadata(source, charset: plan.source.tagEncoding)
        let writers = RenditionWriters(
            plan: plan, source: source, stores: stores, metadata: metadata, measurements: measurements,
            threads: threads, stop: stop)
        // After an analysis pass, the progress of a packet scan would start again at zero.
        let isAnalyzed = measurements.contains { $0 != nil }
        let pipelines = open(writers, reader) { if !isAnalyzed { progress($0) } }
        // With a single encoder, a second thread has no benefit that would outweigh its cost for small jobs.
        let isShared = pipelines.count(where: \.takesSamples) > 1
        do throws(MediaError) {
            for pipeline in pipelines where isShared || pipeline.copies != nil { try pipeline.detach() }
            let decodes = pipelines.contains(where: \.takesSamples)
            try check(pipelines, plan)
            var meter = ProgressMeter(reader, copying: decodes ? nil : pipelines.compactMap(\.copies).max())
            var titles = TitleTimes(source)
            let checksum = decodes ? try SourceChecksum(reader) : nil
            let frame = try Frame()
            while pipelines.contains(where: \.takesSamples), try reader.next(into: frame) {
                titles.note(reader, samples: frame.samples)
                let shared = isShared || checksum != nil ? try SharedFrame(frame) : nil
                if let shared { checksum?.append(shared) }
                for pipeline in pipelines { pipeline.append(frame, shared: shared) }
                try check(pipelines, plan)
                forward(meter.report(reader), pipelines, reader, progress)
            }
            let mismatch = try checksum?.judge(reader, plan.source.damage)
            let warnings = reader.warnings + (mismatch.map { [$0] } ?? [])
            // Outputs with a thread continue while others read the source.
            for pipeline in pipelines where pipeline.takesSamples { pipeline.finish(reader.damage, warnings: warnings) }
            let copying = pipelines.filter { $0.copies != nil }
            for pipeline in copying + pipelines.filter({ $0.copies == nil }) {
                // Sequential, because only one thread at a time may read the source.
                if pipeline.copies != nil { pipeline.finish(.none, warnings: []) }
                while pipeline.wait(atMost: .milliseconds(100)) == nil {
                    try check(pipelines, plan)
                    let copied = decodes ? nil : copying.reduce(0) { $0 + $1.copied } / Int64(copying.count)
                    forward(meter.report(reader, copied: copied), pipelines, reader, progress)
                }
            }
            let compression = reader.compression
            var results = pipelines.map { $0.wait() }
            for (index, result) in results.enumerated() {
                // A main file cannot be opened again once another file beside it has been opened.
                guard case .success(let made) = result, let excess = made.excess,
                    plan.renditions[index].tags.chapters == nil
                else { continue }
                do throws(MediaError) {
                    results[index] = .success(
                        try LoweredEncoding.run(writers, index, excess: excess, warnings: warnings))
                } catch {
                    guard pipelines.count > 1, !plan.isAtomic, !stop.isRaised else { throw error }
                    results[index] = .failure(error)
                }
            }
            results = zip(results, plan.renditions).map { result, rendition in
                result.map {
                    $0.with(titles, tempo: rendition.sound.tempo).with(sourceMD5: checksum?.verified)
                        .with(compression: compression)
                }
            }
            try check(pipelines, plan)
            let samples = max(reader.position - reader.first, copying.map(\.copied).max() ?? 0)
            forward(meter.done(samples: samples), pipelines, reader, progress)
            return results
        } catch {
            for pipeline in pipelines { pipeline.cancel() }
            throw error
        }
    }

    /// Opens each output's writer. Writers that copy packets first scan the source's packets, and report their progress.
    private static func open(
        _ writers: RenditionWriters, _ reader: borrowing AssetReader, progress: (Progress) -> Void
    ) -> [OutputPipeline] {
        var pipelines: [OutputPipeline] = []
        let count = Double(writers.plan.renditions.count)
        for index in writers.plan.renditions.indices {
            do throws(MediaError) {
                let writer = try writers.open(index, reader) { report in
                    var report = report
                    report.fraction = report.fraction.map { (Double(index) + $0) / count }
                    if count > 1 { report.eta = nil }
                    progress(report)
                }
                pipelines.append(OutputPipeline(.success(writer)))
            } catch { pipelines.append(OutputPipeline(.failure(error))) }
        }
        return pipelines
    }

    /// Passes on a report, if there is one, with the progress of each of several outputs.
    private static func forward(
        _ report: Progress?, _ pipelines: [OutputPipeline], _ reader: borrowing AssetReader,
        _ progress: (Progress) -> Void
    ) {
        guard var report else { return }
        if pipelines.count > 1 {
            let read = reader.position - reader.first
            report.outputs = pipelines.map { $0.progress(read: read, part: report.fraction ?? 0) }
        }
        progress(report)
    }

    /// Throws if the conversion as a whole has failed.
    private static func check(_ pipelines: [OutputPipeline], _ plan: ConversionPlan) throws(MediaError) {
        let wanted = pipelines.indices.filter { !plan.skipped.contains($0) }
        guard let index = wanted.first(where: { pipelines[$0].failure != nil }), let failure = pipelines[index].failure
        else {
            return
        }
        guard plan.isAtomic || wanted.allSatisfy({ pipelines[$0].failure != nil }) else { return }
        throw pipelines.count > 1 ? failure.of(output: index) : failure
    }
}
