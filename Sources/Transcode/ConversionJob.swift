import Bytes
import Conversion
import Encoding
import Filters
import FoundationEssentials
import HLS
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC

/// One job. It opens the source and the stores over the link, and converts every outcome to one report.
struct ConversionJob {
    let link: Link
    let reporter: Reporter
    let limits: SourceLimits

    /// Converts the source, and reports each output to `respool-transfer` as complete or failed.
    func convert(_ plan: ConversionPlan, _ threads: ThreadBudget) -> TranscodeReport {
        report {
            var plan = plan
            plan.source.limits = limits
            reporter.report(Progress(phase: .opening))
            let source = try source(plan.source)
            try check(plan, isEndless: source.isEndless)
            let stores = LinkStores(link: link, reporter: reporter)
            let results = try Converter.run(
                source: source, stores: stores, plan: plan, threads: threads, stop: CancellationFlag(),
                progress: { reporter.report($0) })
            for (index, result) in results.enumerated() {
                let report: TranscodeReport
                do {
                    let result = try result.get()
                    let requested = plan.requestedSettings(of: index)
                    assert(
                        result.settings.allSatisfy { $1.requested == requested[$0] }, "\(result.settings) \(requested)")
                    report = .output(index, OutputMeasurement(result))
                } catch { report = .outputFailed(index, Failure(conversionError: error)) }
                try stores.end(output: index, isComplete: (try? result.get()) != nil)
                try reporter.send(report)
            }
            return .converted
        }
    }

    /// Reports the properties of the source.
    func probe(_ settings: ProbeSettings) -> TranscodeReport {
        report {
            let source = try source(SourceSettings())
            guard !source.isEndless || settings == ProbeSettings() else {
                throw Failure(.invalidRequest, "a radio stream is endless and cannot be measured")
            }
            let probe = try Probe.of(
                source, settings, limits: limits, stop: CancellationFlag(), progress: { reporter.report($0) })
            return try Self.report(of: probe)
        }
    }

    /// The report of a probe, shortened until it fits into one packet.
    private static func report(of probe: Probe) throws -> TranscodeReport {
        var probe = probe
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        while true {
            let report = TranscodeReport.probed(String(decoding: try encoder.encode(probe), as: UTF8.self))
            let excess = try PacketSocket.excess(of: report)
            guard excess > 0 else { return report }
            // Characters that are escaped take more bytes than they are counted, so half is removed at a time.
            guard probe.shorten(by: excess / 2) else {
                throw Failure(.tooLarge, "the source has more tracks than a report can list")
            }
        }
    }

    /// Fails if an endless stream does not support the requested settings.
    private func check(_ plan: ConversionPlan, isEndless: Bool) throws(Failure) {
        guard isEndless else { return }
        guard plan.source.range.start == .zero else {
            throw Failure(.invalidRequest, "`start` is not supported for a radio stream: leave it out")
        }
        guard !plan.renditions.contains(where: \.sound.needsMeasurement) else {
            throw Failure(
                .invalidRequest,
                "`loudness`, `trim_silence`, `replay_gain` and a long `fade_out` "
                    + "read the source twice, which is not possible with a radio stream")
        }
        guard let end = plan.source.range.end else {
            throw Failure(.invalidRequest, "the source is an endless stream: give a `duration`")
        }
        guard end <= MediaTime(value: Int64(limits.seconds), timescale: 1) else {
            throw Failure(.tooLong, "`duration` exceeds the limit of \(limits.seconds) s; see RESPOOL_MAX_DURATION")
        }
    }

    /// The job's source; for a playlist, the media that it refers to.
    private func source(_ settings: SourceSettings) throws -> any ByteSource {
        let source = try LinkSource(link: link, reporter: reporter)
        let nested = LinkNestedSources(link: link, reporter: reporter)
        return try HLSSource.resolve(source, nested: nested, settings: settings, stop: CancellationFlag())
    }

    private func report(_ body: () throws -> TranscodeReport) -> TranscodeReport {
        do { return try body() } catch { return .failed(Failure(conversionError: error)) }
    }
}

extension OutputMeasurement {
    init(_ result: ConversionResult) {
        self.init(
            codec: result.codec, duration: result.seconds, sampleRate: result.sampleRate, channels: result.channels,
            bitRate: result.bitRate, copied: result.copied,
            gapless: Gapless(start: max(0, result.gapless.start), end: max(0, result.gapless.end)),
            damage: result.damage, settings: result.settings.mapValues(\.effective), warnings: result.warnings)
        loudness = result.loudness
        audioMD5 = result.audioMD5
        encoders = result.encoders
        titles = result.titles
    }
}
