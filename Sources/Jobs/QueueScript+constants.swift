import JobSchema

extension QueueScript {
    /// The fragments that have no file, because Swift declares what they say; `Tools/luacheckrc` lists their names.
    static let rendered = ["constants": constants, "defaults": defaults]

    /// Limits, rules and names of the fields of a job.
    private static let constants = """
        local MAX_FIELDS, MAX_VALUE, MAX_BYTES = \(JobSpec.Limit.fields), \(JobSpec.Limit.valueBytes), \(JobSpec.Limit.bytes)
        local MAX_ATTEMPTS, MAX_TIMEOUT = \(JobSpec.Limit.attempts.upperBound), \(Int(JobSpec.Limit.timeout.upperBound))
        local MAX_DELAY, MAX_DEDUP = \(Int(JobSpec.Limit.delay.upperBound)), \(JobSpec.Limit.dedupBytes)
        local LATE = '\(JobSpec.lateness)'
        local MAX_CALLBACK = \(JobSpec.Limit.callbackBytes)
        local TRACEPARENT_RULE = 'it must be \(TraceParent.rule)'
        local CALLBACK_RULE = '\(CallbackURL.rule)'
        -- Each between two line ends.
        local FIELDS = [[

        \(JobField.all.map(\.name).joined(separator: "\n"))
        ]]

        """

    /// The settings of a queue that no worker has used yet.
    private static let defaults = """
        local DEFAULT_SETTINGS = '\(QueueSettings().line.split(separator: " ").prefix(6).joined(separator: " "))'
        local DEFAULT_RETENTION = '\(QueueSettings().line.split(separator: " ").dropFirst(6).joined(separator: " "))'

        """
}
