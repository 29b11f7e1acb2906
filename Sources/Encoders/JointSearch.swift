import Bytes

/// The search for the best joint of two runs.
struct JointSearch {
    let running: PacketRun
    let next: PacketRun
    /// The number of the packet at which the joint is planned.
    let planned: Int
    /// `nil` if joints are exact.
    let check: JointCheck?

    /// The first joint that sounds like one encoder, or the first tolerable one if the search is the last. If others may follow, only
    /// one is checked. `frames` gives those that both encoders received, and those around them.
    func best(
        _ joint: any PacketJoint, isLast: Bool, frames: () -> FrameSpan
    ) throws(MediaError) -> Joined? {
        var tolerable: Joined?
        var count = 0
        let isAccepted: Acceptance = { (joined) throws(MediaError) in
            // A check takes about 10 ms.
            guard isLast ? tolerable == nil || count < 4 : count == 0 else { return false }
            count += 1
            switch try finding(joined, frames) {
            case .good: return true
            case .tolerable: tolerable = tolerable ?? joined
            case .wrong: break
            }
            return false
        }
        let good = try joint.join(running, next, at: planned, where: isAccepted)
        if good != nil || !isLast { return good }
        if let tolerable { return tolerable }
        let last = try joint.lastJoin(running, next, at: planned, where: isAccepted)
        return last ?? tolerable
    }

    private func finding(_ joined: Joined, _ frames: () -> FrameSpan) throws(MediaError) -> JointCheck.Finding {
        let after = next.packets.dropFirst(joined.dropped)
        guard let check, let first = after.first, !check.isSame(joined, running, next) else { return .good }
        return try check.finding(joined.kept + after, beside: running.packets[...], at: first.time, frames())
    }
}
