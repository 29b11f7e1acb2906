import JobSchema
import LocalFiles
import Requests
import SlotIPC

/// The permit to fetch from a host. All processes that share the spool folder have a limited number of them per host.
struct HostPermit: ~Copyable {
    private let host: String
    private let maxPermits: Int?
    private let folder: String
    private var lock: NamedLock?

    init(at url: String, policy: TransferPolicy) {
        host = ParsedURL.parse(url)?.host.lowercased() ?? ""
        maxPermits = policy.maxPerHost
        folder = policy.spoolFolder
    }

    /// Takes the permit, unless it is already held or none is required; false while other processes hold all permits.
    mutating func take() throws(Failure) -> Bool {
        guard let maxPermits, lock == nil else { return true }
        lock = try NamedLock.take("host \(host)", permits: maxPermits, in: folder)
        return lock != nil
    }

    mutating func release() { lock = nil }
}
