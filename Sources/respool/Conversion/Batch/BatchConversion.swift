import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Slots

/// Converts the sources of a batch, several at once, in slots of this process.
struct BatchConversion {
    let plan: BatchPlan
    let configuration: SlotConfiguration
    let slots: Int
    let isJSON: Bool

    init(_ arguments: Arguments) throws(CommandFailure) {
        var plan = try BatchPlan(arguments)
        try arguments.check(WorkerOptions.slots)
        slots = try arguments.whole(WorkerOptions.slots, in: 1...1024) ?? CoreBudget.available
        isJSON = arguments.has(.json)
        var configuration = try ConvertOptions.configuration(arguments)
        configuration.policy.sourceRoots = Set(plan.items.compactMap { ConvertOptions.playlistFolder($0.path) })
            .sorted()
        if !plan.output.isRemote {
            // Links are followed here, because transfer follows none below its output root.
            let folder = try Self.makeFolder(plan.output.base)
            plan.move(to: folder)
            configuration.policy.outputRoot = folder
        }
        try ConvertOptions.createSpoolFolder(
            configuration.policy, sources: plan.items.flatMap { [$0] + $0.others }.map(\.path),
            outputs: plan.items.map(\.location))
        self.plan = plan
        self.configuration = configuration
    }

    /// Converts all sources. A failure of one does not stop the others; after Ctrl-C, no partial files remain.
    func run() async -> ExitStatus {
        let queue = BatchQueue(plan.items)
        let view = BatchView(total: plan.count, isJSON: isJSON)
        for report in plan.reports { view.ended(report, of: nil) }
        let sessions = (0..<min(slots, plan.items.count)).map {
            PairSession(number: $0, configuration: configuration, log: Log(least: .error))
        }
        let interruption = await Interruption.calling {
            queue.stop()
            for session in sessions { session.stop() }
        }
        await withTaskGroup { group in
            for (index, session) in sessions.enumerated() {
                group.addTask {
                    while let step = await queue.next() { await take(step, of: queue, session, index, view) }
                    await session.shutdown()
                }
            }
        }
        view.clear()
        interruption.resolve()
        return view.end()
    }

    private func take(
        _ step: BatchQueue.Step, of queue: BatchQueue, _ session: PairSession, _ index: Int, _ view: BatchView
    ) async {
        let (item, report): (BatchItem, BatchReport?)
        switch step {
        case .report(let unread, let known): (item, report) = (unread, known)
        case .convert(let source, let file):
            item = source
            let result = await convert(source, file, session) { view.show($0, of: source, slot: index) }
            await session.end()
            report = Self.report(result, of: source)
        }
        view.ended(report, of: index)
        guard let report else { return }
        for other in await queue.ended(item, report.state) { view.ended(other, of: index) }
    }

    /// The report of a conversion; `nil` if it was stopped by a signal, which is reported instead.
    private static func report(_ result: Result<CommitRecord, SlotError>, of item: BatchItem) -> BatchReport? {
        switch result {
        case .success(let record):
            let output = record.outputs[0].report
            if let error = output.error { return BatchReport(item, failure: error) }
            return BatchReport(item, output.isMade ? .completed : .skipped, outputs: [output])
        case .failure(.stopped): return nil
        case .failure(let error): return BatchReport(item, failure: error.failure)
        }
    }

    private func convert(
        _ item: BatchItem, _ file: BatchQueue.SourceFile?, _ session: PairSession,
        progress: @escaping @Sendable (Progress) -> Void
    ) async -> Result<CommitRecord, SlotError> {
        let run = "\(getpid())-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))"
        let task = SlotTask(
            // A unique id, so that no other run can treat this run's result as its own.
            id: "convert-\(run)", token: "1", sourceURL: item.spec.sourceURL, access: item.spec.access,
            plan: item.spec.plan,
            outputs: [
                .init(
                    item.location, defaultName: item.spec.defaultName(ofOutput: 0, job: "output"),
                    delivery: item.spec.deliveries[0])
            ], sourceDescriptor: file?.descriptor)
        defer { withExtendedLifetime(file) {} }
        do throws(SlotError) {
            var record = try await session.convert(task, progress: progress)
            if record.outputs.contains(where: \.isStaged) { record.take(try await session.publish()) }
            return .success(record)
        } catch {
            return .failure(error)
        }
    }

    /// Creates the folder with those above it; returns its path without symbolic links.
    private static func makeFolder(_ path: String) throws(CommandFailure) -> String {
        var made = ""
        for name in path.split(separator: "/") {
            made += "/" + name
            guard mkdir(made, 0o777) != 0 else { continue }
            let error = Errno.last
            guard error.rawValue == EEXIST || SourceFolder.isFolder(made) else {
                throw .failed("the folder '\(made)' of the outputs cannot be created: \(error)")
            }
        }
        guard let real = realpath(path, nil) else {
            throw .failed("the folder '\(path)' of the outputs cannot be used: \(Errno.last)")
        }
        defer { free(real) }
        guard SourceFolder.isFolder(path) else {
            throw .failed("'\(path)' is not a folder: give --output another one")
        }
        return String(cString: real)
    }
}
