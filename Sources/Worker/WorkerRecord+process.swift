import Glibc
import Jobs
import Lifecycle

extension WorkerRecord {
    /// The record of a worker in this process, named `host:pid:nonce`.
    static func ofThisProcess(slots: Int, traits: Set<Trait>) -> WorkerRecord {
        let host = hostName()
        return WorkerRecord(
            name: "\(host):\(getpid()):\(Nonce.random())", host: host, slots: slots, version: respoolVersion,
            traits: traits)
    }

    /// The name of the machine or container. The corresponding C function is `gethostname`.
    private static func hostName() -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard gethostname(buffer.baseAddress!, buffer.count - 1) == 0 else { return "unknown" }
            buffer[buffer.count - 1] = 0
            return String(cString: buffer.baseAddress!)
        }
    }
}
