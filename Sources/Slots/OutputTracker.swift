package import JobSchema
import MediaTypes
import SlotIPC

/// What both children have reported of a job's outputs.
struct OutputTracker {
    /// The plan, including which outputs are skipped.
    private(set) var plan: ConversionPlan
    private let overwrites: [Overwrite]
    private let locations: [String]
    private let maxSeconds: Int
    private var outcomes: [Int: OutputOutcome] = [:]
    /// The outputs that the transcoder has reported.
    private var reported: Set<Int> = []
    /// Whether it has reported all of them.
    private(set) var isConverted = false
    private var staged: [Int: StagedOutput] = [:]

    private enum OutputOutcome {
        case measured(OutputMeasurement)
        case failed(Failure)
        case skipped(location: String)
    }

    init(_ task: SlotTask, maxSeconds: Int) {
        plan = task.plan
        overwrites = task.outputs.map(\.delivery.overwrite)
        locations = task.outputs.map { OutputPath.redacted($0.location ?? $0.defaultName) }
        self.maxSeconds = maxSeconds
    }

    // MARK: Reports of the transcoder

    mutating func measured(_ index: Int, _ measurement: OutputMeasurement) throws(ImplausibleReport) {
        try expect(index)
        let checked = try measurement.checked(
            as: plan.renditions[index], maxSeconds: maxSeconds, requested: plan.requestedSettings(of: index))
        reported.insert(index)
        // A report of `respool-transfer` takes precedence, because it is closer to the cause.
        if outcomes[index] == nil { outcomes[index] = .measured(checked) }
    }

    mutating func unconverted(_ index: Int, _ failure: Failure) throws(ImplausibleReport) {
        try expect(index)
        let checked = try failure.checked()
        reported.insert(index)
        if outcomes[index] == nil { outcomes[index] = .failed(checked) }
    }

    mutating func converted() throws(ImplausibleReport) {
        guard !isConverted, reported.count == plan.renditions.count else {
            throw ImplausibleReport(
                "the end of a conversion with \(reported.count) of \(plan.renditions.count) outputs")
        }
        isConverted = true
    }

    /// Throws unless the output is one that has not been reported yet.
    private func expect(_ index: Int) throws(ImplausibleReport) {
        guard !isConverted, plan.renditions.indices.contains(index), !reported.contains(index) else {
            throw ImplausibleReport("output \(index) of \(plan.renditions.count), which is unexpected now")
        }
    }

    // MARK: Reports of respool-transfer

    mutating func skipped(_ index: Int, _ location: String) {
        guard plan.renditions.indices.contains(index) else { return }
        outcomes[index] = .skipped(location: location)
        plan.skipped.insert(index)
    }

    mutating func staged(_ index: Int, _ output: StagedOutput) { staged[index] = output }

    mutating func failed(_ index: Int, _ failure: Failure) {
        guard plan.renditions.indices.contains(index) else { return }
        outcomes[index] = .failed(failure.bounded)
    }

    /// Whether `respool-transfer` must check the locations to determine which outputs are skipped.
    var maySkip: Bool { overwrites.contains(.skip) }

    /// Whether no output is to be made.
    var isAllSkipped: Bool { plan.skipped.count == plan.renditions.count }

    /// The commit record for `publish`, once it is complete (`nil` before). Throws if all outputs failed, or one of an
    /// atomic job.
    func record() throws(Failure) -> CommitRecord? {
        guard isConverted || isAllSkipped else { return nil }
        var outputs: [CommitRecord.Output] = []
        for index in plan.renditions.indices {
            let format = plan.renditions[index].format
            switch outcomes[index] {
            case nil: throw Failure(.internal, "output \(index) of \(plan.renditions.count) has no report")
            case .skipped(let location): outputs.append(.init(OutputReport(format: format, skippedAt: location)))
            case .failed(let failure):
                var report = OutputReport(format: format, error: failure)
                report.url = index < locations.count ? locations[index] : ""
                outputs.append(.init(report))
            case .measured(let measurement):
                guard let location = staged[index] else { return nil }
                let report = OutputReport(
                    format: format, requested: plan.requestedSettings(of: index), measurement, location)
                outputs.append(
                    .init(
                        destination: location.destination, staged: location.staged, parts: location.parts,
                        report: report,
                        overwrite: overwrites[index], identity: location.identity))
            }
        }
        let record = CommitRecord(outputs: outputs, isAtomic: plan.isAtomic)
        if let failure = record.failure, record.isAtomic || outputs.allSatisfy({ $0.report.error != nil }) {
            throw failure
        }
        return record
    }
}

extension OutputReport {
    /// Combines the requested settings, the staged file and its digest, and the measurement of the transcoder.
    init(
        format: String, requested: [String: String], _ measurement: OutputMeasurement, _ staged: StagedOutput
    ) {
        self.init(
            url: staged.destination, format: format, codec: measurement.codec, bytes: staged.bytes,
            duration: measurement.duration, sampleRate: measurement.sampleRate, channels: measurement.channels,
            bitRate: measurement.bitRate, sha256: staged.sha256, copied: measurement.copied,
            gapless: measurement.gapless, damage: measurement.damage,
            settings: measurement.settings.reduce(into: [:]) { settings, setting in
                settings[setting.key] = Setting(requested: requested[setting.key], effective: setting.value)
            }, warnings: measurement.warnings, loudness: measurement.loudness)
        audioMD5 = measurement.audioMD5
        encoders = measurement.encoders
        parts = staged.partsReport
        titles = measurement.titles.isEmpty ? nil : measurement.titles
    }
}

extension CommitRecord.Output {
    /// An output without anything to publish.
    fileprivate init(_ report: OutputReport) { self.init(destination: report.url, staged: "", report: report) }
}

extension CommitRecord {
    /// Adds the results of publishing to the reports of the outputs.
    package mutating func take(_ publication: Publication) {
        for (index, etag) in publication.etags where outputs.indices.contains(index) {
            outputs[index].report.etag = etag
        }
        for (index, failure) in publication.failures where outputs.indices.contains(index) {
            let url = outputs[index].report.url
            outputs[index].report = OutputReport(format: outputs[index].report.format, error: failure)
            outputs[index].report.url = url
        }
        for index in publication.skipped where outputs.indices.contains(index) {
            let report = outputs[index].report
            outputs[index].report = OutputReport(format: report.format, skippedAt: report.url)
        }
    }

    /// A record for removing uploads that will not be completed.
    init(uploads: some Sequence<StagedOutput>) {
        self.init(
            outputs: uploads.map { upload in
                var report = OutputReport(format: "", error: nil)
                report.url = upload.destination
                return Output(destination: upload.destination, staged: upload.staged, report: report)
            })
    }

    /// The job's failure if an output has failed: that of the first one, with the number of failed outputs.
    package var failure: Failure? {
        let failures = outputs.compactMap(\.report.error)
        guard let first = outputs.firstIndex(where: { $0.report.error != nil }), let failure = failures.first else {
            return nil
        }
        guard outputs.count > 1 else { return failure }
        let others = failures.count > 1 ? " (\(failures.count) of \(outputs.count) outputs failed)" : ""
        return failure.of(output: first, others)
    }
}
