package import MediaTypes

/// A job whose fields have all been checked.
package struct JobSpec: Sendable {
    /// The fields as they were pushed.
    package let fields: [String: String]
    /// The URL or path of the source.
    package let source: String
    /// The headers and credentials for the source, if it is on a web server.
    package let access: SourceAccess
    /// What is read, and what is made of it.
    package let plan: ConversionPlan
    /// The location of each rendition's result; `nil` for the default location.
    package let destinations: [String?]
    /// How each result is sent, if it goes to a web server.
    package let deliveries: [Delivery]
    /// Which jobs the queue hands out first.
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
    /// The key that only one unfinished job may have.
    package let dedup: String?
    /// The group with which the job is counted, watched and cancelled.
    package let group: String?
    /// The key under which running jobs are limited.
    package let limitKey: String?
    /// The URL that gets a POST when the job ends.
    package let callback: String?

    /// The order in which jobs are claimed; strict.
    package enum Priority: Int, Sendable, CaseIterable {
        case high, normal, low

        /// The priority that a job's field names.
        package init?(name: String) {
            guard let priority = Priority.allCases.first(where: { $0.name == name }) else { return nil }
            self = priority
        }

        /// The word in a job's field.
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
        /// Fields of a job.
        package static let fields = 64
        /// Bytes of one value.
        package static let valueBytes = 16 << 10
        /// Bytes of all names and values together.
        package static let bytes = 64 << 10
        /// What `attempts` may be.
        package static let attempts = 1...100
        /// Seconds.
        package static let timeout = 1.0...86_400.0
        /// Seconds.
        package static let delay = 0.0...31_536_000.0
        /// Bytes of a dedup key.
        package static let dedupBytes = 256
        /// Outputs of a job.
        package static let outputs = 32
        /// Bytes of a callback's URL.
        package static let callbackBytes = 2048
    }

    /// The error message of a job that had not ended by its deadline.
    package static let lateness = "the job was not over by its deadline"

    /// Checks every field; throws an error that names the first invalid one.
    package init(fields: [String: String]) throws(Failure) {
        let reader = try FieldReader(fields)
        self.fields = fields
        source = try reader.source()
        access = try reader.access(to: source)
        let outputs = try OutputReaders(reader)
        let plan = try reader.plan(outputs)
        self.plan = plan
        (destinations, deliveries) = try outputs.destinations(plan.renditions)
        priority = try reader.priority()
        start = try reader.start()
        attempts = try reader.attempts()
        timeout = try reader.timeout()
        expires = try reader.term("expires")
        deadline = try reader.term("deadline")
        dedup = try reader.dedup()
        group = try reader.group()
        limitKey = try reader.limitKey()
        callback = try reader.callback()
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
        format == "peaks" ? picture.form.rawValue : AudioFormat.named(format)?.fileExtension ?? format
    }
}
