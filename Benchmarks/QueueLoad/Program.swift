import Glibc
import JobSchema
import Jobs
import Lifecycle
import Redis

/// Puts load on a queue and prints the number of jobs per second: `queue-load URL push|bulk|live|slots COUNT`.
@main
struct Program {
    private static let atOnce = 8
    private static let slots = 24

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4, let count = Int(words[3]) else {
            print("usage: queue-load URL push|bulk|live|slots COUNT")
            exit(2)
        }
        let url = try RedisURL(words[1])
        let client = RedisClient(url: url, name: "queue-load", timeout: .seconds(60))
        let claims = RedisClient(url: url, name: "queue-load-claims", timeout: .seconds(60))
        let queue = JobQueue(client: client, claims: claims)
        let start = ContinuousClock.now
        switch words[2] {
        case "push": for number in 0..<count { _ = try await queue.push(job(number)) }
        case "bulk":
            for first in stride(from: 0, to: count, by: 500) {
                _ = try await queue.enqueue((first..<min(first + 500, count)).map(job))
            }
        case "live": try await live(queue, count)
        default: try await fill(queue, count)
        }
        print(Int(Double(count) / start.duration(to: .now).seconds))
        for client in [client, claims] { await client.close() }
    }

    /// A job with a URL of 120 bytes.
    private static func job(_ number: Int) -> [String: String] {
        let digits = String(number)
        return [
            "source": "https://example.org/" + String(repeating: "x", count: 95 - digits.utf8.count) + digits + ".flac",
            "format": "mp3",
        ]
    }

    /// Claims jobs and finishes them immediately, without a slot, like one worker process with 24 slots: the next jobs are
    /// claimed while the previous ones are being finished.
    private static func live(_ queue: JobQueue, _ count: Int) async throws {
        let endings = FinishBatcher(queue)
        var ended = 0
        var underWay: [Task<Void, any Error>] = []
        // A worker numbers its claims, so that a repeated one gets the same jobs: another process is another worker.
        let worker = "host:\(getpid()):load"
        while ended < count {
            let jobs = try await queue.claim(count: atOnce, worker: worker).jobs
            underWay.append(Task { try await finish(jobs, endings) })
            if underWay.count == 3 { try await underWay.removeFirst().value }
            ended += jobs.count
        }
        for last in underWay { try await last.value }
    }

    /// Claims and finishes jobs like a worker process with 24 slots whose jobs take no time. Twice as many may be unfinished,
    /// because a worker publishes results while it converts the next jobs.
    private static func fill(_ queue: JobQueue, _ count: Int) async throws {
        let endings = FinishBatcher(queue)
        let worker = "host:\(getpid()):load"
        var ended = 0
        var underWay: [(task: Task<Void, any Error>, count: Int)] = []
        while ended < count {
            let unfinished = underWay.reduce(0) { $0 + $1.count }
            guard unfinished < 2 * slots else {
                try await underWay.removeFirst().task.value
                continue
            }
            let count = min(JobQueue.claimSize(slots: slots), 2 * slots - unfinished)
            let jobs = try await queue.claim(count: count, worker: worker).jobs
            underWay.append((Task { try await finish(jobs, endings) }, jobs.count))
            ended += jobs.count
        }
        for last in underWay { try await last.task.value }
    }

    private static func finish(_ jobs: [ClaimedJob], _ endings: FinishBatcher) async throws {
        try await withThrowingTaskGroup(of: FinishAnswer.self) { group in
            for job in jobs {
                group.addTask {
                    try await endings.finish(Ending(id: job.id, token: job.token, outcome: .completed([])))
                }
            }
            try await group.waitForAll()
        }
    }
}
