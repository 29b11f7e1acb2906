import FoundationEssentials
import JobSchema
import Jobs

/// Enqueues jobs in parts and prints the result of each.
struct Enqueuer {
    let connection: QueueConnection
    let isJSON: Bool
    /// Whether the ids are returned at the end. Otherwise they are not kept, to save memory in long batches.
    let keepsIds: Bool

    /// The number of jobs enqueued at once.
    static let partSize = 2000

    /// Enqueues a job for each source, all with the same fields.
    func push(sources: [String], fields: [String: String]) async throws(CommandFailure) -> PushedJobs {
        guard !sources.isEmpty else {
            throw .usage("missing source: give URLs or paths, or --batch FILE; see `respool enqueue --help`")
        }
        if sources.count > 1, let output = fields["output"], !output.hasSuffix("/"), fields["output_method"] != "POST",
            !["{id}", "{name}", "{stem}"].contains(where: output.contains)
        {
            throw .usage(
                "--output is '\(TextLayout.printable(OutputPath.redacted(output)))' for \(sources.count) "
                    + "sources: give a folder, with / at its end, or use {stem}, {name} or {id} in it"
            )
        }
        var specs: [JobSpec] = []
        for source in sources {
            var spec = fields
            spec["source"] = try SourceAddress.url(source)
            do throws(Failure) { specs.append(try JobSpec(fields: spec)) } catch {
                throw .usage(error, of: sources.count > 1 ? SourceAddress.shown(source) : nil)
            }
        }
        var pushed = PushedJobs()
        for specs in specs.parts(of: Self.partSize) {
            let part = Part(Array(specs))
            pushed.add(report(try await push(part), of: part), keepsIds: keepsIds)
        }
        return pushed
    }

    /// Enqueues the jobs of a batch. The defaults apply to jobs without these fields.
    func push(
        batch path: String, defaults: [String: String], operands: [String]
    ) async throws(CommandFailure) -> PushedJobs {
        guard operands.isEmpty else {
            throw .usage("'\(operands[0])' and --batch are mutually exclusive: give sources or a batch")
        }
        if path != "-" { try check(path, defaults) }
        var reader = try BatchReader(path: path)
        var bar = PushBar()
        var pushed = PushedJobs()
        // While Redis processes one part, the next part is read, validated and encoded. Ids are printed while Redis processes
        // the following part.
        var underWay: (part: Part, answers: Task<Result<[Enqueued], CommandFailure>, Never>)?
        while true {
            let next = Result { () throws(CommandFailure) in Part(try jobs(&reader, defaults)) }
            let last = underWay?.part
            let answers = try await underWay?.answers.value.get()
            if case .success(let part) = next, !part.specs.isEmpty {
                underWay = (part, Task { await result(of: part) })
            }
            if let last, let answers {
                pushed.add(report(answers, of: last), keepsIds: keepsIds)
                bar.draw(count: pushed.count, fraction: reader.fraction)
            }
            do throws(CommandFailure) { if try next.get().specs.isEmpty { break } } catch {
                bar.clear()
                let before =
                    pushed.count == 0
                    ? "no job was pushed" : "the \(Formatting.count(pushed.count, "job")) before were pushed"
                var failure = error
                failure.message += " (\(before))"
                throw failure
            }
        }
        bar.clear()
        return pushed
    }

    /// Reads a regular file to its end first, so that an invalid line is found before any job is enqueued.
    private func check(_ path: String, _ defaults: [String: String]) throws(CommandFailure) {
        var reader = try BatchReader(path: path)
        guard reader.fraction != nil else { return }
        do throws(CommandFailure) { while try !jobs(&reader, defaults).isEmpty {} } catch {
            var failure = error
            failure.message += " (no job was pushed)"
            throw failure
        }
    }

    /// The next jobs of a batch, validated.
    private func jobs(
        _ reader: inout BatchReader, _ defaults: [String: String]
    ) throws(CommandFailure) -> [JobSpec] {
        var specs: [JobSpec] = []
        while specs.count < Self.partSize, let entry = try reader.next() {
            var fields = defaults.isEmpty ? entry.fields : defaults.merging(entry.fields) { $1 }
            if let source = fields["source"], !source.isEmpty, !SourceAddress.isURL(source) {
                fields["source"] = try SourceAddress.url(source)
            }
            do throws(Failure) { specs.append(try JobSpec(fields: fields)) } catch {
                throw .usage(error, of: reader.place(entry.line))
            }
        }
        return specs
    }

    private func result(of part: Part) async -> Result<[Enqueued], CommandFailure> {
        do throws(CommandFailure) { return .success(try await push(part)) } catch { return .failure(error) }
    }

    /// Enqueues one part. If the reply is lost, the command is sent again; it is idempotent.
    private func push(_ part: Part) async throws(CommandFailure) -> [Enqueued] {
        try await connection.askTwice { queue throws(QueueError) in try await queue.enqueue(part.batches) }
    }

    /// Prints the results of the jobs of a part.
    private func report(_ answers: [Enqueued], of part: Part) -> [Enqueued] {
        var text = ""
        for (answer, spec) in zip(answers, part.specs) {
            text += isJSON ? JSONLine.text(PushedJob(answer, source: redactedURL(spec.sourceURL))) : answer.id
            text += "\n"
        }
        StandardStream.output(text)
        return answers
    }
}

/// Jobs that are enqueued at once: their specs, and their encoded form.
private struct Part {
    let specs: [JobSpec]
    let batches: EnqueueBatches

    init(_ specs: [JobSpec]) {
        self.specs = specs
        batches = EnqueueBatches(specs)
    }
}

/// The jobs enqueued by one run of `enqueue`.
struct PushedJobs {
    /// The ids, if they are kept.
    private(set) var ids: [String] = []
    private(set) var count = 0
    /// The number of jobs that are duplicates of existing ones.
    private(set) var duplicates = 0

    mutating func add(_ answers: [Enqueued], keepsIds: Bool) {
        count += answers.count
        duplicates += answers.count(where: \.isDuplicate)
        if keepsIds { ids += answers.map(\.id) }
    }
}

/// The JSON report of an enqueued job.
private struct PushedJob: Encodable {
    let id: String
    let duplicate: Bool
    let source: String

    init(_ answer: Enqueued, source: String) {
        id = answer.id
        duplicate = answer.isDuplicate
        self.source = source
    }
}

/// The progress bar of a long batch, unless the ids are printed to the terminal.
private struct PushBar {
    private var area = LiveArea(.error)
    private let isWanted = Terminal.error.isInteractive && !Terminal.output.isInteractive
    private var last = ContinuousClock.now

    mutating func draw(count: Int, fraction: Double?) {
        guard isWanted, ContinuousClock.now - last > .milliseconds(100) else { return }
        last = .now
        let bar = ProgressBar(width: 30, hasUnicode: Terminal.error.hasUnicode).text(fraction)
        let percent = fraction.map { "  \(Formatting.percent($0))" } ?? ""
        area.draw(["\(bar)\(percent)  \(Formatting.count(count, "job")) pushed"])
    }

    mutating func clear() {
        if isWanted { area.clear() }
    }
}
