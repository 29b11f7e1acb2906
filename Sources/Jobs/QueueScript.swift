import Redis
import SlotProtocol

/// The scripts, each a file with the parts that it needs in front.
enum QueueScript {
    static let enqueue = script("enqueue", PackageResources.enqueue_lua, with: [admission])
    static let admit = script("admit", PackageResources.admit_lua, with: [admission, upkeep])
    static let claim = script("claim", PackageResources.claim_lua, with: [admission, upkeep])
    static let beat = script("beat", PackageResources.beat_lua, with: [admission, upkeep])
    static let publish = script("publish", PackageResources.publish_lua)
    static let recover = script("recover", PackageResources.recover_lua)
    static let finish = script("finish", PackageResources.finish_lua)
    static let cancel = script("cancel", PackageResources.cancel_lua, with: [admission])
    static let retry = script("retry", PackageResources.retry_lua, with: [admission])
    static let pause = script("pause", PackageResources.pause_lua)
    static let ring = script("ring", PackageResources.ring_lua)
    static let purge = script("purge", PackageResources.purge_lua, with: [admission])
    static let stats = script("stats", PackageResources.stats_lua)
    static let list = script("list", PackageResources.list_lua)
    static let queued = script("queued", PackageResources.queued_lua)
    static let gather = script("gather", PackageResources.gather_lua, with: [admission])
    static let limit = script("limit", PackageResources.limit_lua)
    static let schedule = script("schedule", PackageResources.schedule_lua, with: [admission])
    static let dispatch = script("dispatch", PackageResources.dispatch_lua)
    static let settle = script("settle", PackageResources.settle_lua)
    static let redeliver = script("redeliver", PackageResources.redeliver_lua)

    private static let admission = part("admission", PackageResources.admission_lua)
    private static let upkeep = PackageResources.upkeep_lua

    private static let base = [
        Array(constants.utf8), PackageResources.meta_lua, Array("return (function()\n".utf8), PackageResources.base_lua,
        part("callbacks", PackageResources.callbacks_lua), part("groups", PackageResources.groups_lua),
        part("limits", PackageResources.limits_lua), part("endings", PackageResources.endings_lua),
        part("inbox", PackageResources.inbox_lua),
    ]

    private static func script(_ name: String, _ body: [UInt8], with parts: [[UInt8]] = []) -> RedisScript {
        let pieces = base + parts + [body, Array("end)()\n".utf8)]
        return RedisScript(name: name, source: Array(pieces.joined()))
    }

    /// A part that is made when a script first needs it.
    private static func part(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array("\(name) = part(function()\n".utf8) + body + Array("end)\n".utf8)
    }

    /// What Lua must know as Swift knows it.
    private static let constants = """
        local DEFAULT_SETTINGS = '\(QueueSettings().line)'
        local FIELDS = ' \(JobField.all.map(\.name).joined(separator: " ")) '
        local MAX_FIELDS, MAX_VALUE, MAX_BYTES = \(Limit.fields), \(Limit.valueBytes), \(Limit.bytes)
        local MAX_ATTEMPTS, MAX_TIMEOUT = \(Limit.attempts.upperBound), \(Int(Limit.timeout.upperBound))
        local LATE = '\(JobSpec.lateness)'
        local MAX_DELAY, MAX_DEDUP = \(Int(Limit.delay.upperBound)), \(Limit.dedupBytes)
        local MAX_CALLBACK, CALLBACK_RULE = \(Limit.callbackBytes), '\(CallbackURL.rule)'

        """

    private typealias Limit = JobSpec.Limit
}
