import JobSchema
import SlotIPC

/// A place among those who may fetch from one host at the same time, in all processes that share the spool folder.
struct HostPermit: ~Copyable {
    private let host: String
    private let most: Int?
    private let folder: String
    private var lock: NamedLock?

    init(at url: String, policy: TransferPolicy) {
        host = ParsedURL.parse(url)?.host.lowercased() ?? ""
        most = policy.maxPerHost
        folder = policy.spoolFolder
    }

    /// Takes it, unless it is held already or none is needed; false while others have all.
    mutating func take() throws(Failure) -> Bool {
        guard let most, lock == nil else { return true }
        lock = try NamedLock.take("host \(host)", places: most, in: folder)
        return lock != nil
    }

    mutating func leave() { lock = nil }
}
