import CLibav
package import Lifecycle
package import MediaTypes

/// One pass from a source's audio to finished outputs.
package enum Conversion {
    /// Converts a range of a source and checks the results; blocks, and reports on the calling thread at most ten times a
    /// second.
    ///
    /// What fails the source fails the whole; what fails one of several outputs is that output's own result.
    package static func run(
        source: any ByteSource, stores: any OutputStores, plan: ConversionPlan, stop: StopFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> [Result<ConversionResult, MediaError>] {
        progress(Progress(phase: .opening))
        var reader = try AssetReader.open(source, plan.source.range, stop: stop)
        var outputs: [Output] = []
        for index in plan.renditions.indices {
            outputs.append(Output(plan, index, source, stores, reader, stop: stop))
        }
        try check(outputs)
        var meter = ProgressMeter(reader)
        let frame = Frame()
        while outputs.contains(where: \.takesSamples), try reader.next(into: frame) {
            for output in outputs { output.append(frame) }
            try check(outputs)
            if let report = meter.report(reader) { progress(report) }
        }
        for output in outputs { output.finish(warnings: reader.warnings) }
        let results = outputs.map { $0.result! }
        let copied = results.compactMap { try? $0.get() }.first(where: \.copied)?.samples ?? 0
        progress(meter.done(samples: max(reader.position - reader.first, copied)))
        return results
    }

    /// Fails if a conversion cannot come to anything any more.
    private static func check(_ outputs: [Output]) throws(MediaError) {
        guard outputs.allSatisfy({ $0.failure != nil }), let failure = outputs.first?.failure else { return }
        throw failure
    }
}

/// One output on its way: its writer until it has a result.
private final class Output {
    private var writer: (any RenditionWriter)?
    private(set) var result: Result<ConversionResult, MediaError>?

    init(
        _ plan: ConversionPlan, _ index: Int, _ source: any ByteSource, _ stores: any OutputStores,
        _ reader: borrowing AssetReader, stop: StopFlag
    ) {
        do throws(MediaError) {
            let rendition = plan.renditions[index]
            guard AudioFormat.named(rendition.format)?.isSegmented != true else {
                writer = try HLSWriter(stores, output: index, rendition, reader, stop: stop)
                return
            }
            let copy = try CopyPlan.choose(plan.renditions[index], source, reader, stop: stop)
            let store: any ByteStore
            do { store = try stores.open(output: index, part: nil) } catch {
                throw MediaError(.store(error), "open the output", "the output could not be opened: \(error)")
            }
            if let copy {
                writer = PacketCopyWriter(store, source, copy, reader, stop: stop)
            } else {
                writer = try AudioFileWriter(store, plan.renditions[index], reader, stop: stop)
            }
        } catch { result = .failure(error) }
    }

    var takesSamples: Bool { writer?.takesSamples ?? false }

    var failure: MediaError? {
        if case .failure(let error) = result { error } else { nil }
    }

    func append(_ frame: borrowing Frame) {
        guard let writer else { return }
        do throws(MediaError) { try writer.append(frame) } catch { end(.failure(error)) }
    }

    func finish(warnings: [Warning]) {
        guard let writer else { return }
        do throws(MediaError) {
            var result = try writer.finish()
            if writer.takesSamples { result.warnings = warnings + result.warnings }
            end(.success(result))
        } catch { end(.failure(error)) }
    }

    private func end(_ result: Result<ConversionResult, MediaError>) {
        self.result = result
        writer = nil
    }
}
