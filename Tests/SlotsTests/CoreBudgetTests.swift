import Synchronization
import Testing

@testable import Slots

@Suite struct CoreBudgetTests {
    /// What a conversion was told last.
    private final class Told: Sendable {
        private let last = Mutex(0)

        var count: Int {
            get { last.withLock { $0 } }
            set { last.withLock { $0 = newValue } }
        }
    }

    @Test func `conversions share the cores as they come and go`() {
        let budget = CoreBudget(cores: 8)
        let told = (0..<3).map { _ in Told() }
        let first = budget.enter { told[0].count = $0 }
        #expect(told.map(\.count) == [8, 0, 0])
        let second = budget.enter { told[1].count = $0 }
        #expect(told.map(\.count) == [4, 4, 0])
        let third = budget.enter { told[2].count = $0 }
        #expect(told.map(\.count) == [2, 2, 2])
        budget.leave(second)
        #expect(told.map(\.count) == [4, 2, 4])
        budget.leave(third)
        budget.leave(first)
        let last = budget.enter { told[0].count = $0 }
        #expect(told[0].count == 8)
        budget.leave(last)
    }

    @Test func `each of more conversions than cores has one`() {
        let budget = CoreBudget(cores: 2)
        let told = (0..<3).map { _ in Told() }
        for each in told { _ = budget.enter { each.count = $0 } }
        #expect(told.map(\.count) == [1, 1, 1])
    }
}
