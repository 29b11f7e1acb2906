import Glibc
import Lifecycle
import Redis
import TestSupport

/// Random walks through the queue's scripts, side by side, each beside a model: `queue-walk STEPS`.
///
/// Prints the first seed, and of a difference the seed of its walk. `SEED=` begins with that one.
@main
struct Program {
    /// After so many steps, all keys are held against each other and a walk with the next seed begins on an empty queue.
    private static let length = 1000
    private static let walkers = 3

    static func main() async throws {
        let steps = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 200_000
        let seed = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...UInt64(UInt32.max))
        let start = ContinuousClock.now
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for walker in 0..<walkers {
                    let numbers = stride(from: walker, to: (steps + length - 1) / length, by: walkers)
                    group.addTask { try await walk(numbers.map { seed &+ UInt64($0) }) }
                }
                try await group.waitForAll()
            }
        } catch {
            print("FAILED queue-walk: \(error)")
            exit(1)
        }
        let seconds = start.duration(to: .now).seconds
        print(
            "passed queue-walk: \(steps) steps from SEED=\(seed) on, as the model says, sound after every walk;",
            "\(Int(Double(steps) / seconds)) steps/s (\(Int(seconds)) s)")
    }

    private static func walk(_ seeds: [UInt64]) async throws {
        let server = try await RedisServer()
        let client = server.client()
        for seed in seeds {
            _ = try await client.send(["FLUSHALL"])
            var walk = try QueueWalk(client, seed: seed)
            for step in 1...length {
                try await walk.step()
                if step.isMultiple(of: 250) { try await walk.compare() }
            }
            try await walk.audit()
        }
        await client.close()
    }
}
