import Lifecycle
import Testing

@Suite struct BackoffTests {
    private let backoff = Backoff(base: .seconds(2), cap: .seconds(600))

    @Test(arguments: [(1, 2), (2, 4), (3, 8), (8, 256), (9, 512), (10, 600), (1000, 600)])
    func `the delay doubles with every failure up to the cap`(failures: Int, seconds: Int) {
        #expect(backoff.ceiling(afterFailure: failures) == .seconds(seconds))
    }

    @Test func `delays are drawn from the whole range below the ceiling`() {
        let delays = (0..<2000).map { _ in backoff.delay(afterFailure: 3) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(8) })
        // Of 2,000 even draws none falls into an eighth with probability (7/8)^2000.
        #expect(delays.contains { $0 < .seconds(1) })
        #expect(delays.contains { $0 > .seconds(7) })
    }

    @Test func `a duration is converted to smaller units`() {
        let duration = Duration.seconds(3) + .nanoseconds(4_500_000)
        #expect(duration.nanoseconds == 3_004_500_000)
        #expect(duration.milliseconds == 3004)
        #expect(duration.seconds == 3.0045)
    }

    @Test(arguments: [(20_000, "20"), (500, "0.5"), (600_040, "600"), (12_950, "13"), (-1500, "-1.5"), (0, "0")])
    func `a duration is written for people`(milliseconds: Int, text: String) {
        #expect(Duration.milliseconds(milliseconds).rounded == text)
    }
}
