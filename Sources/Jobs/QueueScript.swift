import CQueueScripts
package import Redis

/// The scripts, each joined from its file and the fragments that it requires (`Tools/lua_scripts.py` does the same for
/// the linter, which knows only the names of what is rendered here).
package enum QueueScript {
    static let enqueue = script("enqueue")
    static let admit = script("admit")
    static let claim = script("claim")
    static let beat = script("beat")
    static let publish = script("publish")
    static let recover = script("recover")
    static let finish = script("finish")
    static let cancel = script("cancel")
    static let retry = script("retry")
    static let reschedule = script("reschedule")
    static let pause = script("pause")
    static let quiet = script("quiet")
    static let ring = script("ring")
    static let purge = script("purge")
    static let stats = script("stats")
    static let list = script("list")
    static let queued = script("queued")
    static let admitAndSeal = script("admit_and_seal")
    static let limit = script("limit")
    static let schedule = script("schedule")
    static let claimCallbacks = script("claim_callbacks")
    static let finishCallback = script("finish_callback")
    static let redeliver = script("redeliver")
    static let reply = script("reply")
    static let repair = script("repair")

    /// A script by the name of its file.
    package static func script(_ name: String) -> RedisScript { script(name, fragment(name)) }

    /// Joins `meta.lua`, the script, which is wrapped in one function, and `failed.lua`.
    static func script(_ name: String, _ text: [UInt8]) -> RedisScript {
        var inserted: Set<String> = []
        var source: [UInt8] = []
        require("meta", &source, &inserted)
        source += "local is_whole, answer = pcall(function()\n".utf8
        append(text, to: &source, &inserted)
        source += "end)\n".utf8
        require("failed", &source, &inserted)
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
        append(rendered[name].map { Array($0.utf8) } ?? fragment(name), to: &source, &inserted)
    }

    private static func fragment(_ name: String) -> [UInt8] {
        guard let text = text(name) else { preconditionFailure("scripts.c has no `\(name)`") }
        return text
    }

    /// The text of a file in `Scripts`; `nil` if it is not listed in `CQueueScripts/scripts.c`.
    static func text(_ name: String) -> [UInt8]? {
        var length = 0
        guard let start = queue_script(name, &length) else { return nil }
        return Array(UnsafeBufferPointer(start: start, count: length))
    }
}
