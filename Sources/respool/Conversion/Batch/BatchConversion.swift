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
        plan = try BatchPlan(arguments)
        try arguments.check(WorkerOptions.slots)
        slots = try arguments.whole(WorkerOptions.slots, in: 1...1024) ?? CoreBudget.available
        isJSON = arguments.has(.json)
        var configuration = try ConvertOptions.configuration(arguments)
        configuration.policy.sourceRoots = Set(plan.items.compactMap { ConvertOptions.playlistFolder($0.path) })
            .sorted()
        if !plan.output.isRemote {
            configuration.policy.outputRoot = try Self.makeFolder(String(plan.output.base))
        }
        self.configuration = configuration
    }

    /// Converts all sources. A failure of one does not stop the others; after Ctrl-C, no partial files remain.
    func run() async -> ExitStatus {
        let queue = BatchQueue(plan.items)
        let view = BatchView(total: plan.items.count, isJSON: isJSON)
        let slots = (0..<min(slots, plan.items.count)).map {
            Slot(number: $0, configuration: configuration, log: Log(least: .error))
        }
        let interruption = await Interruption.calling {
            queue.stop()
            for slot in slots { slot.stop() }
        }
        await withTaskGroup { group in
            for (index, slot) in slots.enumerated() {
                group.addTask {
                    while let step = await queue.next() { await take(step, slot, index, view) }
                    await slot.shutdown()
                }
            }
        }
        view.clear()
        interruption.resolve()
        return view.end()
    }

    private func take(_ step: BatchQueue.Step, _ slot: Slot, _ index: Int, _ view: BatchView) async {
        switch step {
        case .report(let report): view.ended(report, of: index)
        case .convert(let item, let file):
            let result = await convert(item, file, slot) { view.show($0, of: item, slot: index) }
            await slot.end()
            switch result {
            case .success(let record):
                let output = record.outputs[0].report
                if let error = output.error {
                    view.ended(BatchReport(item, failure: error), of: index)
                } else {
                    view.ended(BatchReport(item, output.isMade ? .completed : .skipped, outputs: [output]), of: index)
                }
            // The signal is reported instead.
            case .failure(.stopped): view.ended(nil, of: index)
            case .failure(let error): view.ended(BatchReport(item, failure: error.failure), of: index)
            }
        }
    }

    private func convert(
        _ item: BatchItem, _ file: BatchQueue.SourceFile?, _ slot: Slot,
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
            var record = try await slot.convert(task, progress: progress)
            if record.outputs.contains(where: \.isStaged) { record.take(try await slot.publish()) }
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
            guard mkdir(made, 0o777) == 0 || errno == EEXIST || SourceFolder.isFolder(made) else {
                throw .failed("the folder '\(made)' of the outputs cannot be created: \(Errno.last)")
            }
        }
        guard let real = SourceFolder.realPath(of: path), SourceFolder.isFolder(real) else {
            throw .failed("'\(path)' is not a folder: give --output another one")
        }
        return real
    }
}
