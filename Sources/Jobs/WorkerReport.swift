import JobSchema

/// The JSON form of a worker.
package struct WorkerReport: Encodable {
    let name: String
    let host: String
    let slots: Int
    let version: String
    let jobs: [String]
    /// Seconds since the last beat.
    @Nullable var silence: Double?
    /// Whether it was told to claim no more jobs.
    let quiet: Bool
    /// Whether it writes only to URLs.
    let urlOutputs: Bool

    package init(_ worker: WorkerRecord) {
        name = worker.name
        host = worker.host
        slots = worker.slots
        version = worker.version
        jobs = worker.jobs
        silence = worker.silence.map { Double($0) / 1000 }
        quiet = worker.isQuiet
        urlOutputs = worker.traits.contains(.urlOutputs)
    }

    private enum CodingKeys: String, CodingKey {
        case name, host, slots, version, jobs, silence, quiet
        case urlOutputs = "url_outputs"
    }
}
