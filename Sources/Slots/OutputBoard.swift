import MediaTypes
package import SlotProtocol

/// What both children have said of a job's outputs so far.
struct OutputBoard {
    /// Whether the transcoder has told of every output.
    var isConverted = false
    /// The plan, with what is skipped of it.
    private(set) var plan: ConversionPlan
    private let overwrites: [Overwrite]
    private let places: [String]
    private var reports: [Int: OutputReport] = [:]
    private var staged: [Int: StagedOutput] = [:]

    init(_ task: SlotTask) {
        plan = task.plan
        overwrites = task.outputs.map(\.delivery.overwrite)
        places = task.outputs.map { OutputPath.redacted($0.place ?? $0.defaultName) }
    }

    mutating func converted(_ index: Int, _ report: OutputReport) {
        // What transfer said of it is nearer to the cause.
        if reports[index]?.isMade != false { reports[index] = report }
    }

    mutating func skipped(_ index: Int, _ place: String) {
        guard plan.renditions.indices.contains(index) else { return }
        reports[index] = OutputReport(format: plan.renditions[index].format, skippedAt: place)
        plan.skipped.insert(index)
    }

    mutating func staged(_ index: Int, _ output: StagedOutput) { staged[index] = output }

    mutating func failed(_ index: Int, _ failure: Failure) {
        guard plan.renditions.indices.contains(index) else { return }
        reports[index] = OutputReport(format: plan.renditions[index].format, error: failure)
    }

    /// Whether which outputs there are to be is known only when their places are looked up.
    var maySkip: Bool { overwrites.contains(.skip) }

    /// What `publish` would make visible, once everything is known; a failure if nothing is to be.
    func record() throws(Failure) -> CommitRecord? {
        guard isConverted else { return nil }
        var outputs: [CommitRecord.Output] = []
        for index in plan.renditions.indices {
            guard var report = reports[index] else {
                throw Failure(.internal, "nothing is known of output \(index) of \(plan.renditions.count)")
            }
            if !report.isMade {
                if report.error != nil { report.url = index < places.count ? places[index] : "" }
                outputs.append(.init(destination: report.url, staged: "", report: report))
                continue
            }
            guard let place = staged[index] else { return nil }
            report.url = place.destination
            report.bytes = place.bytes
            report.sha256 = place.sha256
            report.parts = place.partsReport
            outputs.append(
                .init(
                    destination: place.destination, staged: place.staged, parts: place.parts, report: report,
                    overwrite: overwrites[index], identity: place.identity))
        }
        let record = CommitRecord(outputs: outputs, isAtomic: plan.isAtomic)
        if let failure = record.failure, record.isAtomic || outputs.allSatisfy({ $0.report.error != nil }) {
            throw failure
        }
        return record
    }
}

extension CommitRecord {
    /// Takes note of what became of the outputs.
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

    /// What is taken back of uploads that nobody will complete.
    init(uploads: some Sequence<StagedOutput>) {
        self.init(
            outputs: uploads.map { upload in
                var report = OutputReport(format: "", error: nil)
                report.url = upload.destination
                return Output(destination: upload.destination, staged: upload.staged, report: report)
            })
    }

    /// The job's failure if one of its outputs has failed: the first one's, which says how many there are.
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
