import JobSchema
import Redis

/// The scripts, each joined from its file and the fragments that it requires (`Tools/lua_scripts.py` does the same for
/// the linter).
enum QueueScript {
    static let enqueue = script("enqueue", PackageResources.enqueue_lua)
    static let admit = script("admit", PackageResources.admit_lua)
    static let claim = script("claim", PackageResources.claim_lua)
    static let beat = script("beat", PackageResources.beat_lua)
    static let publish = script("publish", PackageResources.publish_lua)
    static let recover = script("recover", PackageResources.recover_lua)
    static let finish = script("finish", PackageResources.finish_lua)
    static let cancel = script("cancel", PackageResources.cancel_lua)
    static let retry = script("retry", PackageResources.retry_lua)
    static let pause = script("pause", PackageResources.pause_lua)
    static let ring = script("ring", PackageResources.ring_lua)
    static let purge = script("purge", PackageResources.purge_lua)
    static let stats = script("stats", PackageResources.stats_lua)
    static let list = script("list", PackageResources.list_lua)
    static let queued = script("queued", PackageResources.queued_lua)
    static let admitAndSeal = script("admit_and_seal", PackageResources.admit_and_seal_lua)
    static let limit = script("limit", PackageResources.limit_lua)
    static let schedule = script("schedule", PackageResources.schedule_lua)
    static let claimCallbacks = script("claim_callbacks", PackageResources.claim_callbacks_lua)
    static let finishCallback = script("finish_callback", PackageResources.finish_callback_lua)
    static let redeliver = script("redeliver", PackageResources.redeliver_lua)

    /// The fragments that a script can require.
    private static let fragments = [
        "constants": PackageResources.constants_lua, "meta": PackageResources.meta_lua,
        "base": PackageResources.base_lua, "callbacks": PackageResources.callbacks_lua,
        "groups": PackageResources.groups_lua, "limits": PackageResources.limits_lua,
        "endings": PackageResources.endings_lua, "inbox": PackageResources.inbox_lua,
        "admission": PackageResources.admission_lua, "options": PackageResources.options_lua,
        "replay": PackageResources.replay_lua, "maintenance": PackageResources.maintenance_lua,
    ]

    /// Joins `meta.lua` and the script, which is wrapped in one function.
    static func script(_ name: String, _ text: [UInt8]) -> RedisScript {
        var inserted: Set<String> = []
        var source: [UInt8] = []
        require("meta", &source, &inserted)
        source += "return (function()\n".utf8
        append(text, to: &source, &inserted)
        source += "end)()\n".utf8
        return RedisScript(name: name, source: source)
    }

    /// Appends a text. The first line `-- require NAME` is replaced by that fragment, later ones are removed.
    private static func append(_ text: [UInt8], to source: inout [UInt8], _ inserted: inout Set<String>) {
        let requirement = Array("-- require ".utf8)
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            if line.starts(with: requirement) {
                require(String(decoding: line.dropFirst(requirement.count), as: UTF8.self), &source, &inserted)
            } else {
                source += line
                source.append(UInt8(ascii: "\n"))
            }
        }
    }

    private static func require(_ name: String, _ source: inout [UInt8], _ inserted: inout Set<String>) {
        guard inserted.insert(name).inserted else { return }
        guard let fragment = fragments[name] else { preconditionFailure("there is no fragment `\(name)`") }
        append(fragment, to: &source, &inserted)
    }
}
