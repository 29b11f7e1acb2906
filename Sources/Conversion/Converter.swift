package import Bytes
import Decoding
package import Encoding
import Libav
package import Lifecycle
package import MediaTypes

/// One pass from a source's audio to finished outputs.
package enum Converter {
    /// Converts a range of a source and checks the results; blocks, and reports on the calling thread at most ten times a
    /// second.
    ///
    /// One output that is encoded is made on the calling thread. Of several each has a thread of its own, and the slowest sets
    /// the pace; so has each whose packets are copied, which follow one after the other. What fails the source fails the whole;
    /// what fails one of several outputs is that output's own result, unless all of them are wanted or none.
    package static func run(
        source: any ByteSource, stores: any OutputStores, plan: ConversionPlan, stop: CancellationFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> [Result<ConversionResult, MediaError>] {
        progress(Progress(phase: .opening))
        let measurements = try SoundAnalysis.run(source, plan, stop: stop, progress: progress)
        var reader = try AssetReader.open(source, plan.source, stop: stop)
        let metadata = try reader.metadata(source, charset: plan.source.tagEncoding)
        let writers = RenditionWriters(
            plan: plan, source: source, stores: stores, metadata: metadata, measurements: measurements, stop: stop)
        // After a first reading a second one, of packets alone, would go back to its beginning.
        let isAnalyzed = measurements.contains { $0 != nil }
        let lanes = open(writers, reader) { if !isAnalyzed { progress($0) } }
        // One encoder beside the decoder gains nothing by a second thread that small jobs would not lose.
        let isShared = lanes.count(where: \.takesSamples) > 1
        for lane in lanes where isShared || lane.copies != nil { lane.detach() }
        let decodes = lanes.contains(where: \.takesSamples)
        do throws(MediaError) {
            try check(lanes, plan)
            var meter = ProgressMeter(reader, copying: decodes ? nil : lanes.compactMap(\.copies).max())
            var titles = TitleTimes(source)
            let checksum = decodes ? SourceChecksum(reader) : nil
            let frame = try Frame()
            while lanes.contains(where: \.takesSamples), try reader.next(into: frame) {
                titles.note(reader, samples: frame.samples)
                let shared = isShared || checksum != nil ? try SharedFrame(frame) : nil
                if let shared { checksum?.append(shared) }
                for lane in lanes { lane.append(frame, shared: shared) }
                try check(lanes, plan)
                tell(meter.report(reader), lanes, reader, progress)
            }
            let mismatch = try checksum?.judge(reader, plan.source.damage)
            let warnings = reader.warnings + (mismatch.map { [$0] } ?? [])
            // Those that have a thread go on while the others read the source.
            for lane in lanes where lane.takesSamples { lane.finish(reader.damage, warnings: warnings) }
            let copying = lanes.filter { $0.copies != nil }
            for lane in copying + lanes.filter({ $0.copies == nil }) {
                // One after the other: only one thread at a time reads the source.
                if lane.copies != nil { lane.finish(.none, warnings: []) }
                while lane.wait(atMost: .milliseconds(100)) == nil {
                    try check(lanes, plan)
                    let copied = decodes ? nil : copying.reduce(0) { $0 + $1.copied } / Int64(copying.count)
                    tell(meter.report(reader, copied: copied), lanes, reader, progress)
                }
            }
            let compression = reader.compression
            var results = lanes.map { $0.wait() }
            for (index, result) in results.enumerated() {
                // A main file beside which another was begun cannot be begun anew.
                guard case .success(let made) = result, let excess = made.excess,
                    plan.renditions[index].tags.chapters == nil
                else { continue }
                // What peaks a codec makes depends on the level; a tenth more leaves it room.
                do throws(MediaError) {
                    results[index] = .success(
                        try SecondEncoding.run(writers, index, lowering: excess + 0.1, warnings: warnings))
                } catch {
                    guard lanes.count > 1, !plan.isAtomic, !stop.isRaised else { throw error }
                    results[index] = .failure(error)
                }
            }
            results = results.map { result in
                result.map { $0.with(titles).with(sourceMD5: checksum?.verified).with(compression: compression) }
            }
            try check(lanes, plan)
            let samples = max(reader.position - reader.first, copying.map(\.copied).max() ?? 0)
            tell(meter.done(samples: samples), lanes, reader, progress)
            return results
        } catch {
            for lane in lanes { lane.cancel() }
            throw error
        }
    }

    /// Opens each output's writer; those that copy read the source's packets first, and tell how far they are.
    private static func open(
        _ writers: RenditionWriters, _ reader: borrowing AssetReader, progress: (Progress) -> Void
    ) -> [OutputPipeline] {
        var lanes: [OutputPipeline] = []
        let count = Double(writers.plan.renditions.count)
        for index in writers.plan.renditions.indices {
            do throws(MediaError) {
                let writer = try writers.open(index, reader) { report in
                    var report = report
                    report.fraction = report.fraction.map { (Double(index) + $0) / count }
                    if count > 1 { report.eta = nil }
                    progress(report)
                }
                lanes.append(OutputPipeline(.success(writer)))
            } catch { lanes.append(OutputPipeline(.failure(error))) }
        }
        return lanes
    }

    /// Hands on a report, if there is one, with how far each of several outputs is.
    private static func tell(
        _ report: Progress?, _ lanes: [OutputPipeline], _ reader: borrowing AssetReader, _ progress: (Progress) -> Void
    ) {
        guard var report else { return }
        if lanes.count > 1 {
            let read = reader.position - reader.first
            report.outputs = lanes.map { $0.progress(read: read, part: report.fraction ?? 0) }
        }
        progress(report)
    }

    /// Fails if a conversion cannot come to anything any more.
    private static func check(_ lanes: [OutputPipeline], _ plan: ConversionPlan) throws(MediaError) {
        let wanted = lanes.indices.filter { !plan.skipped.contains($0) }
        guard let index = wanted.first(where: { lanes[$0].failure != nil }), let failure = lanes[index].failure else {
            return
        }
        guard plan.isAtomic || wanted.allSatisfy({ lanes[$0].failure != nil }) else { return }
        throw lanes.count > 1 ? failure.of(output: index) : failure
    }
}
