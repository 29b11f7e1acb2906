import MediaTypes
import Testing

@testable import Slots

@Suite struct CoreBudgetTests {
    @Test func `conversions share the cores as they come and go`() {
        let budget = CoreBudget(cores: 8)
        var shares: [Int] = []
        for _ in 1...3 {
            budget.enter()
            shares.append(budget.share)
        }
        budget.leave()
        shares.append(budget.share)
        budget.leave()
        budget.leave()
        shares.append(budget.share)
        #expect(shares == [8, 4, 2, 4, 8])
    }

    @Test func `each of more conversions than cores has one`() {
        let budget = CoreBudget(cores: 2)
        for _ in 1...3 { budget.enter() }
        #expect(budget.share == 1)
    }

    @Test func `a conversion does not end because thousands of others begin and end meanwhile`() async throws {
        let studio = try await Studio()
        let budget = CoreBudget(cores: 4)
        let slot = studio.slot { $0.cores = budget }
        var task = studio.task("long", source: "long.wav")
        task.plan = ConversionPlan(
            source: SourceSettings(range: TimeRange(start: .zero, end: MediaTime(value: 900, timescale: 1))),
            renditions: [Rendition(format: "wav")])
        _ = try await slot.convert(task) { _ in
            for _ in 0..<5000 {
                budget.enter()
                budget.leave()
            }
        }
        await slot.end()
        await slot.shutdown()
        #expect(budget.share == 4)
    }
}
