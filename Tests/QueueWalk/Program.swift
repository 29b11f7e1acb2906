import Glibc
import Jobs
import Lifecycle
import Redis
import TestSupport

/// Random walks through the queue's scripts, side by side, each beside a model: `queue-walk STEPS`.
///
/// Prints the first seed, and of a difference the seed of its walk. `SEED=` begins with that one. With names of scripts, it prints
/// the digests by which Redis knows them.
@main
struct Program {
    /// After so many steps, all keys are held against each other and a walk with the next seed begins on an empty queue.
    private static let length = 1000
    private static let walkers = 3
    /// Walks of so many steps in all must have met each change of state that `docs/queue.md` lists.
    private static let completeSteps = 20_000

    static func main() async throws {
        let names = CommandLine.arguments.dropFirst().filter { Int($0) == nil }
        guard names.isEmpty else { return print(names.map { QueueScript.script($0).digest }.joined(separator: "\n")) }
        let steps = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 200_000
        let seed = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...UInt64(UInt32.max))
        let start = ContinuousClock.now
        do {
            let table = try StateTable()
            let changes = try await withThrowingTaskGroup(
                of: Set<StateTable.Change>.self, returning: Set<StateTable.Change>.self
            ) { group in
                for walker in 0..<walkers {
                    let numbers = stride(from: walker, to: (steps + length - 1) / length, by: walkers)
                    group.addTask { try await walk(numbers.map { seed &+ UInt64($0) }, table) }
                }
                var all: Set<StateTable.Change> = []
                for try await met in group { all.formUnion(met) }
                return all
            }
            let missing = Set(table.scripts.keys).subtracting(changes).map(\.description).sorted()
            if steps >= completeSteps, !missing.isEmpty {
                print("FAILED queue-walk: SEED=\(seed): docs/queue.md lists what never happened: \(missing)")
                exit(1)
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

    /// Returns the changes of jobs' states that happened.
    private static func walk(_ seeds: [UInt64], _ table: StateTable) async throws -> Set<StateTable.Change> {
        let server = try await RedisServer()
        let client = server.client()
        var changes: Set<StateTable.Change> = []
        for seed in seeds {
            _ = try await client.send(["FLUSHALL"])
            var walk = try QueueWalk(client, seed: seed, table: table)
            for step in 1...length {
                try await walk.step()
                if step.isMultiple(of: 250) { try await walk.compare() }
            }
            try await walk.audit()
            changes.formUnion(walk.changes)
        }
        await client.close()
        return changes
    }
}
