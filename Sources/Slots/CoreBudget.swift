import FoundationEssentials
import Synchronization

/// Divides the cores of the machine among the conversions that run: one conversion alone gets all of them.
package final class CoreBudget: Sendable {
    /// The number of cores that are divided.
    let cores: Int
    private let conversions = Atomic(0)

    /// At least one core is divided, whatever the number.
    package init(cores: Int) { self.cores = max(cores, 1) }

    /// The number of cores of this machine, or those that a container's control group allows (cgroup v2, `cpu.max`).
    package static let available = max(
        1, min(ProcessInfo.processInfo.activeProcessorCount, processorQuota() ?? .max))

    /// The number of processors that a control group allows, rounded up; `nil` if it sets no limit.
    private static func processorQuota() -> Int? {
        guard let data = FileManager.default.contents(atPath: "/sys/fs/cgroup/cpu.max") else { return nil }
        let words = String(decoding: data, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0 else {
            return nil
        }
        return Int((quota / period).rounded(.up))
    }

    /// The number of cores for each conversion.
    var share: Int { max(cores / max(conversions.load(ordering: .relaxed), 1), 1) }

    /// Counts a conversion until `leave`.
    func enter() { conversions.add(1, ordering: .relaxed) }

    func leave() { conversions.subtract(1, ordering: .relaxed) }
}
