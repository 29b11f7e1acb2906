import Jobs
import Lifecycle
import Testing

@Suite(.timeLimit(.minutes(2))) struct ModelTests {
    /// `RESPOOL_SEED` repeats one walk, `RESPOOL_STEPS` makes it longer.
    @Test(arguments: 1...4)
    func `does what the model does, whatever comes in whatever order`(_ walk: Int) async throws {
        let steps = Environment.value("RESPOOL_STEPS").flatMap { Int($0) } ?? 400
        let seed = Environment.value("RESPOOL_SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max)
        var settings = QueueSettings()
        settings.lease = .seconds(3600)
        settings.backoff = Backoff(base: .seconds(86_400_000), cap: .seconds(86_400_000))
        try await QueueFixture.run(settings: settings) { fixture in
            var walk = QueueWalk(fixture, seed: seed)
            for step in 1...steps {
                try await walk.step()
                if step.isMultiple(of: 25) { try await walk.compare() }
            }
            try await walk.compare()
        }
    }
}
