import CLibav
package import Lifecycle
package import MediaTypes

/// One pass from a source's audio to a finished file.
package enum Conversion {
    /// Converts a range of a source and checks the result; blocks, and reports on the calling thread at most ten times a second.
    package static func run(
        source: any ByteSource, store: any ByteStore, rendition: Rendition, range: TimeRange, stop: StopFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> ConversionResult {
        progress(Progress(phase: .opening))
        var reader = try AssetReader.open(source, range, stop: stop)
        let settings = try EncodingSettings.resolve(rendition, reader.shape, reader.depth)
        let tags = Options(reader.sourceTags.map { ($0.key, $0.value) })
        var writer = try AssetWriter.open(
            store, settings, input: reader.shape, depth: reader.depth, tags: tags, stop: stop)
        var meter = ProgressMeter(reader)
        let frame = Frame()
        while try reader.next(into: frame) {
            try writer.append(frame)
            if let report = meter.report(reader) { progress(report) }
        }
        try writer.finish()
        try OutputCheck.run(store, settings, samples: writer.written, stop: stop)
        progress(meter.done(samples: reader.position - reader.first))
        return try result(settings, reader, store, samples: writer.written)
    }

    private static func result(
        _ settings: EncodingSettings, _ reader: borrowing AssetReader, _ store: any ByteStore, samples: Int64
    ) throws(MediaError) -> ConversionResult {
        let bytes: Int64
        do { bytes = try store.length } catch {
            throw MediaError(.store(error), "measure the output", "the output could not be measured: \(error)")
        }
        let duration = MediaTime(sample: samples, rate: settings.shape.rate)
        return ConversionResult(
            format: settings.format.name, codec: settings.codec.name, duration: duration, seconds: duration.seconds,
            samples: samples, sampleRate: settings.shape.rate, channels: settings.shape.channels,
            bitRate: Int((Double(bytes) * 8 / duration.seconds).rounded()), bytes: bytes,
            gapless: .init(start: 0, end: 0), damage: .init(seconds: 0, events: 0), settings: settings.chosen,
            warnings: reader.warnings + settings.warnings)
    }
}
