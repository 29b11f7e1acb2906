import Bytes
import MediaTypes

/// Counts the lost audio of a range, and decides whether too much is lost.
struct DamageMeter {
    private(set) var lost: Int64 = 0
    private(set) var events = 0
    /// The position of the first lost sample.
    private(set) var first: Int64?
    private var wasLost = false
    private let policy: DamagePolicy
    private let rate: Int

    init(_ policy: DamagePolicy, rate: Int) {
        self.policy = policy
        self.rate = rate
    }

    /// Records samples of the range, which are either decoded or silence in place of lost ones.
    mutating func pass(_ count: Int, at position: Int64, isLost: Bool) {
        if isLost {
            lost += Int64(count)
            if !wasLost { events += 1 }
            if first == nil { first = position }
        }
        wasLost = isLost
    }

    /// Throws if more than 1 % of the samples, and more than 100 ms, are lost, including the missing ones.
    func judge(of samples: Int64, missing: Range<Int64> = 0..<0) throws(MediaError) {
        let lost = lost + Int64(missing.count)
        guard policy == .fail, lost * 100 > samples, lost * 10 > rate else { return }
        throw MediaError(
            .corruptMedia, "decode the audio",
            "the source is damaged: \(Self.rounded(lost, rate)) s of \(Self.rounded(samples, rate)) "
                + "s are lost, first at \(Self.rounded(first ?? missing.lowerBound, rate)) "
                + "s; set `damage` to `accept` to replace them by silence"
        )
    }

    func damage(silentEvents: Int) -> Damage { Damage(seconds: seconds, events: events + silentEvents) }

    /// A warning about the damage; `nil` if there is none.
    func warning(silentEvents: Int) -> Warning? {
        if lost > 0 {
            return Warning(
                .damaged,
                "the source is damaged: \(lostSeconds) s are lost, first at \(firstSeconds) s, and replaced by silence"
            )
        }
        guard silentEvents > 0 else { return nil }
        return Warning(.damaged, "the source is damaged: \(silentEvents) of its packets are not readable")
    }

    private var seconds: Double { Double(lost) / Double(rate) }
    private var lostSeconds: Double { Self.rounded(lost, rate) }
    private var firstSeconds: Double { Self.rounded(first ?? 0, rate) }

    private static func rounded(_ samples: Int64, _ rate: Int) -> Double {
        (Double(samples) / Double(rate) * 1000).rounded() / 1000
    }
}
