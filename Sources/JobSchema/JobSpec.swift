package import MediaTypes

/// A job whose fields have all been checked.
package struct JobSpec: Sendable {
    /// The fields as they were pushed.
    package let fields: [String: String]
    /// The URL or path of the source.
    package let sourceURL: String
    /// The headers and credentials for the source, if it is on a web server.
    package let access: SourceAccess
    /// The parts of the source to read, and the outputs to make of them.
    package let plan: ConversionPlan
    /// The location of each rendition's result; `nil` for the default location.
    package let destinations: [String?]
    /// How each result is sent, if it goes to a web server.
    package let deliveries: [Delivery]
    /// The priority of the job in the queue.
    package let priority: Priority
    /// When the job may first be claimed.
    package let start: Moment?
    /// The maximum number of attempts.
    package let attempts: Int
    /// The maximum run time of one attempt.
    package let timeout: Duration
    /// When the job fails if it was not started.
    package let expires: Moment?
    /// When the job fails if it has not ended.
    package let deadline: Moment?
    /// The deduplication key, which only one unfinished job may hold.
    package let dedup: String?
    /// The group to which the job belongs.
    package let group: String?
    /// The key whose limits apply to the job.
    package let limitKey: String?
    /// The URL to which a POST is sent when the job ends.
    package let callback: String?
    /// The trace that the job belongs to.
    package let traceParent: TraceParent?

    /// The order in which jobs are claimed; strict.
    package enum Priority: Int, Sendable, CaseIterable {
        case high, normal, low

        /// The priority with that name in a job's field; `nil` if there is none.
        package init?(name: String) {
            guard let priority = Priority.allCases.first(where: { $0.name == name }) else { return nil }
            self = priority
        }

        /// The name in a job's field.
        package var name: String { String(describing: self) }
    }

    /// A time in a job's field.
    package enum Moment: Hashable, Sendable {
        /// That long after the job's admission.
        case after(Duration)
        /// Milliseconds since 1970.
        case at(Int64)
    }

    /// Limits that the queue's scripts check too.
    package enum Limit {
        /// The maximum number of fields.
        package static let fields = 64
        /// The maximum size of a value in bytes.
        package static let valueBytes = 16 << 10
        /// The maximum size of all names and values in bytes.
        package static let bytes = 64 << 10
        /// The range of `attempts`.
        package static let attempts = 1...100
        /// Seconds.
        package static let timeout = 1.0...86_400.0
        /// Seconds.
        package static let delay = 0.0...31_536_000.0
        /// The maximum size of a dedup key in bytes.
        package static let dedupBytes = 256
        /// The maximum number of outputs.
        package static let outputs = 32
        /// The maximum size of a callback's URL in bytes.
        package static let callbackBytes = 2048
    }

    /// The error message of a job that had not ended by its deadline.
    package static let lateness = "the job did not finish before its deadline"

    /// Checks every field; throws an error that names the first wrong one, and has all of them.
    ///
    /// Fields are `unusable` if the scripts of the queue could not read them, although they may follow the rules here.
    package init(fields: [String: String], unusable: [String] = []) throws(Failure) {
        let faults = FieldFaults()
        let reader = try FieldReader(fields, faults)
        let outputs = OutputReaders(reader)
        self.fields = fields
        sourceURL = reader.source()
        access = reader.access(to: sourceURL)
        plan = reader.plan(outputs)
        (destinations, deliveries) = outputs.destinations(plan.renditions)
        priority = reader.fields["priority"].flatMap { Priority(name: $0) } ?? .normal
        start = reader.start()
        attempts = reader.whole("attempts") ?? 5
        timeout = reader.seconds("timeout") ?? .seconds(3600)
        expires = reader.fields["expires"].flatMap(FieldReader.moment)
        deadline = reader.fields["deadline"].flatMap(FieldReader.moment)
        dedup = reader.dedup()
        group = reader.fields["group"]
        limitKey = reader.fields["limit_key"]
        callback = reader.callback()
        traceParent = reader.fields["traceparent"].flatMap { TraceParent($0) }
        for name in unusable {
            let value = FieldReader.shown(reader.fields[name] ?? "")
            reader.refuse(name, "`\(name)` is `\(value)`, which the queue cannot read: docs/jobs.md lists the forms")
        }
        if let failure = faults.failure { throw failure }
    }

    /// The file name of a result for which the job gives none: `<id>.<extension>`, with the output's number if there
    /// are several.
    package func defaultName(ofOutput index: Int, job id: String) -> String {
        let number = plan.renditions.count > 1 ? "-\(index)" : ""
        return "\(id)\(number).\(plan.renditions[index].fileExtension)"
    }
}

extension Rendition {
    /// The extension of the result's file name.
    var fileExtension: String {
        guard let named = AudioFormat.named(format) else { return format }
        return named.picture == .peaks ? picture.form.rawValue : named.fileExtension
    }
}
