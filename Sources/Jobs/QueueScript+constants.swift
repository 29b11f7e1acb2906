import JobSchema

extension QueueScript {
    /// The fragments that have no file, because Swift declares what they say; `Tools/luacheckrc` lists their names.
    static let rendered = ["constants": constants, "defaults": defaults]

    /// The limits of what the scripts themselves use, and the names of all fields.
    private static let constants = """
        local MAX_FIELDS, MAX_VALUE, MAX_BYTES = \(JobSpec.Limit.fields), \(JobSpec.Limit.valueBytes), \(JobSpec.Limit.bytes)
        local MAX_ATTEMPTS, MAX_DELAY = \(JobSpec.Limit.attempts.upperBound), \(Int(JobSpec.Limit.delay.upperBound))
        local MAX_DEDUP, MAX_CALLBACK = \(JobSpec.Limit.dedupBytes), \(JobSpec.Limit.callbackBytes)
        local MAX_WRONG, MAX_WRONG_BYTES = \(Failure.maxFields), \(Failure.maxFieldBytes)
        local FIELDS = ' \(JobField.all.map(\.name).joined(separator: " ")) '
        local LATE = '\(JobSpec.lateness)'

        """

    /// The settings of a queue that no worker has used yet.
    private static let defaults = """
        local DEFAULT_SETTINGS = '\(QueueSettings().line.split(separator: " ").prefix(6).joined(separator: " "))'
        local DEFAULT_RETENTION = '\(QueueSettings().line.split(separator: " ").dropFirst(6).joined(separator: " "))'

        """
}
