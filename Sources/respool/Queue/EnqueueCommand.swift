import Configuration
import JobSchema
import Jobs
import Redis

extension Command {
    static let enqueue = Command(
        "enqueue", usages: ["SOURCE… --format FORMAT", "--batch FILE|-"],
        "pushes jobs and prints their ids, one per line",
        details: [
            "A SOURCE is a URL or the path of a local file, which must be under "
                + "a source root of the worker. Every job is checked before any is pushed.",
            "A batch has one JSON object per line with a job's fields, or CSV whose first line has "
                + "the field names; the other options are the defaults of all lines. A file is checked as "
                + "a whole before its first job is pushed, standard input in parts of \(Enqueuer.partSize) jobs.",
        ],
        options: FieldOptions.all + [
            EnqueueOptions.batch, EnqueueOptions.seal, EnqueueOptions.groupCallback, EnqueueOptions.durable,
            EnqueueOptions.wait, .json, .queue, .redis,
        ],
        examples: [
            .init(
                line: "respool enqueue https://example.org/a.flac --format mp3 --start 5:00 --end 10:00",
                meaning: "five minutes of it, as MP3"),
            .init(
                line: "respool enqueue *.wav --to opus --bit-rate 64k --wait",
                meaning: "waits until all jobs finish; exits with 1 if one failed"),
            .init(
                line: #"echo '{"source":"https://example.org/a.flac","format":"mp3"}' | respool enqueue --batch -"#,
                meaning: "reads jobs from a pipe"),
        ],
        operands: 0...Int.max, operandSuggestion: .files
    ) { arguments throws(CommandFailure) in
        let replicas = try arguments.has(EnqueueOptions.durable) ? EnqueueOptions.replicas() : nil
        let enqueuer = Enqueuer(
            connection: try QueueConnection(arguments, replicas: replicas), isJSON: arguments.has(.json),
            keepsIds: arguments.has(EnqueueOptions.wait))
        let defaults = FieldOptions.fields(arguments, of: FieldOptions.all)
        let sealed = arguments.has(EnqueueOptions.seal) ? defaults["group"] : nil
        if arguments.has(EnqueueOptions.seal), sealed == nil {
            throw .usage("--seal requires a group: add --group NAME")
        }
        let callback = try arguments.callback(EnqueueOptions.groupCallback)
        if callback != nil, sealed == nil {
            throw .usage("--group-callback requires a sealed group: add --group NAME --seal")
        }
        let pushed =
            if let path = arguments.value(EnqueueOptions.batch) {
                try await enqueuer.push(batch: path, defaults: defaults, operands: arguments.operands)
            } else {
                try await enqueuer.push(sources: arguments.operands, fields: defaults)
            }
        if let sealed, try await !enqueuer.connection.seal(sealed, callback: callback, isPatient: true) {
            guard pushed.count > 0, pushed.duplicates == pushed.count else { throw .noGroup(sealed) }
            StandardStream.error(
                "respool: all jobs are duplicates, which join no group, so there is no group '\(sealed)' to seal\n")
        }
        guard arguments.has(EnqueueOptions.wait) else { return .success }
        let follower = JobFollower(
            connection: enqueuer.connection, terminal: .error, form: arguments.has(.json) ? .json : .summary)
        return try await follower.follow(pushed.ids)
    }
}

enum EnqueueOptions {
    static let batch = Option(
        "batch", letter: "b", value: "FILE", "reads jobs from a file, or from standard input for `-`",
        suggestion: .files)
    static let seal = Option("seal", "with --group: seals it, so that no other job can join")
    static let groupCallback = Option(
        "group-callback", value: "URL", "with --seal: gets a signed POST when all jobs of the group have finished")
    static let durable = Option(
        "durable", "prints an id once replicas of Redis have the job too (RESPOOL_WAIT_REPLICAS: how many)")
    static let wait = Option("wait", letter: "w", "waits until all jobs finish; exits with 1 if one did not complete")

    /// The number of replicas that must have a durable job: one, unless the environment requires more.
    static func replicas() throws(CommandFailure) -> ReplicaWait? {
        do throws(SettingError) { return try ReplicaWait(.process, fallback: 1) } catch { throw .usage(error.message) }
    }
}
