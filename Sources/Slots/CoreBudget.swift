import FoundationEssentials
import Synchronization

/// Divides the cores of the machine among the conversions that run: one conversion alone gets all of them.
package final class CoreBudget: Sendable {
    private let cores: Int
    private let state = Mutex(State())

    private struct State {
        var lastMember = 0
        var members: [Int: @Sendable (Int) -> Void] = [:]
        var share = 0
    }

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

    /// Adds a conversion. The body is called at once with its number of cores, and again each time that it changes. Returns a number
    /// for `leave`.
    func enter(_ changed: @escaping @Sendable (Int) -> Void) -> Int {
        state.withLock { state in
            state.lastMember += 1
            state.members[state.lastMember] = changed
            divide(&state)
            // The new one has not been called if the share is the same.
            changed(state.share)
            return state.lastMember
        }
    }

    /// Removes a conversion. Its body is not called any more.
    func leave(_ member: Int) {
        state.withLock { state in
            state.members[member] = nil
            divide(&state)
        }
    }

    private func divide(_ state: inout State) {
        let share = max(cores / max(state.members.count, 1), 1)
        guard share != state.share else { return }
        state.share = share
        for changed in state.members.values { changed(share) }
    }
}
