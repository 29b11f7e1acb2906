import Bytes
import MediaTypes

/// Counts the sound of a range that is lost, and decides whether too much of it is.
struct DamageMeter {
    private(set) var lost: Int64 = 0
    private(set) var events = 0
    /// The first lost sample of the source.
    private(set) var first: Int64?
    private var wasLost = false
    private let policy: DamagePolicy
    private let rate: Int

    init(_ policy: DamagePolicy, rate: Int) {
        self.policy = policy
        self.rate = rate
    }

    /// Takes note of samples of the range, which are silence in place of lost ones or not.
    mutating func pass(_ count: Int, at position: Int64, isLost: Bool) {
        if isLost {
            lost += Int64(count)
            if !wasLost { events += 1 }
            if first == nil { first = position }
        }
        wasLost = isLost
    }

    /// Fails if more than a hundredth of so many samples, and more than 100 ms, are lost, the missing ones among them.
    func judge(of samples: Int64, missing: Range<Int64> = 0..<0) throws(MediaError) {
        let lost = lost + Int64(missing.count)
        guard policy == .fail, lost * 100 > samples, lost * 10 > rate else { return }
        throw MediaError(
            .corruptMedia, "decode the audio",
            "the source is damaged: \(Self.rounded(lost, rate)) s of its \(Self.rounded(samples, rate)) s are lost, "
                + "first at \(Self.rounded(first ?? missing.lowerBound, rate)) s; `damage: accept` would leave them silent"
        )
    }

    func damage(silentEvents: Int) -> Damage { Damage(seconds: seconds, events: events + silentEvents) }

    /// What a person should know; nothing if all is well.
    func warning(silentEvents: Int) -> Warning? {
        if lost > 0 {
            return Warning(
                .damaged,
                "the source is damaged: \(lostSeconds) s are lost, first at \(firstSeconds) s, and silent in the result"
            )
        }
        guard silentEvents > 0 else { return nil }
        return Warning(.damaged, "the source is damaged: \(silentEvents) of its packets could not be read as they are")
    }

    private var seconds: Double { Double(lost) / Double(rate) }
    private var lostSeconds: Double { Self.rounded(lost, rate) }
    private var firstSeconds: Double { Self.rounded(first ?? 0, rate) }

    private static func rounded(_ samples: Int64, _ rate: Int) -> Double {
        (Double(samples) / Double(rate) * 1000).rounded() / 1000
    }
}
