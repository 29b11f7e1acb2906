import Configuration
import JobSchema
import Jobs
import Redis

/// The connection to the queue of a command.
struct QueueConnection: Sendable {
    let queue: JobQueue
    let url: RedisURL

    /// The queue that the options, the environment or the defaults specify. The connection is opened by the first request.
    ///
    /// If `replicas` is set, `enqueue` waits for them.
    init(_ arguments: Arguments, replicas: ReplicaWait? = nil) throws(CommandFailure) {
        do throws(RedisError) {
            if let text = arguments.given(.redis).last {
                url = try RedisURL(text)
            } else {
                url = try RedisURL(.process)
            }
        } catch {
            throw .usage("\(error)")
        }
        do throws(Failure) {
            let name = try arguments.value(.queue).map { text throws(Failure) in try QueueName(text) } ?? .default
            queue = Self.queue(at: url, name, replicas)
        } catch {
            throw .usage(error.message)
        }
    }

    init(url: RedisURL) {
        self.url = url
        queue = Self.queue(at: url, .default)
    }

    private static func queue(at url: RedisURL, _ name: QueueName, _ replicas: ReplicaWait? = nil) -> JobQueue {
        JobQueue(
            client: RedisClient(url: url, name: "respool", key: QueueKeys(name).meta), replicas: replicas, name: name)
    }

    /// Sends a request to the queue. Errors become a message and an exit status.
    func ask<Answer>(
        _ question: (JobQueue) async throws(QueueError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do throws(QueueError) { return try await question(queue) } catch { throw explain(error) }
    }

    /// Like `ask`, but repeats the request once if the server was unreachable, because the reply may have been lost.
    func askTwice<Answer>(
        _ question: (JobQueue) async throws(QueueError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        do throws(CommandFailure) { return try await ask(question) } catch {
            guard error.status == .unreachable else { throw error }
            return try await ask(question)
        }
    }

    /// Like `ask`, but retries for up to a minute while the server is unreachable. `makeRoom` is called before this is
    /// reported.
    func askWithRetry<Answer>(
        makeRoom: () -> Void = {}, _ question: (JobQueue) async throws(QueueError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        for failures in 0..<60 {
            do throws(QueueError) {
                let answer = try await question(queue)
                if failures > 0 { StandardStream.error("respool: Redis is reachable again\n") }
                return answer
            } catch {
                let failure = explain(error)
                guard error.isTransient else { throw failure }
                if failures == 0 {
                    makeRoom()
                    StandardStream.error("respool: \(failure.message); waiting for it\n")
                }
                try? await Task.sleep(for: .seconds(1))
            }
        }
        return try await ask(question)
    }

    func explain(_ error: QueueError) -> CommandFailure {
        switch error {
        case .redis(.url(let sentence)): .usage(sentence)
        case .redis(.server(code: "OOM", message: _)): .failed("\(error)")
        case .redis(.server(let code, _)) where ["NOAUTH", "WRONGPASS", "NOPERM"].contains(code):
            .unreachable("\(url) denies access: \(error); give a user and password in RESPOOL_REDIS_URL or --redis")
        case .redis(.connection), .redis(.closed):
            .unreachable(
                "\(error); start it, or give another with --redis or RESPOOL_REDIS_URL")
        case .redis(.tooFewReplicas(acknowledged: _, _)):
            .unreachable("\(error); the jobs are in the queue, and are lost if this server fails over now")
        case .redis where error.isTransient: .unreachable("Redis at \(url) is not ready: \(error)")
        case .invalidJob(_, let failure): .usage(failure)
        case .redis, .unexpectedAnswer: .failed("\(error)")
        }
    }
}

extension Array {
    /// The elements in order, in slices of at most `count`.
    func parts(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
