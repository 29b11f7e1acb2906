package import FoundationEssentials
package import JobSchema
package import Lifecycle
package import SlotIPC

/// Posts callbacks or traces through a separate child process, which is started by the first of them, and again after it
/// has ended.
///
/// Only the child connects to untrusted servers: it has no access to Redis and no secrets.
package actor PostChild {
    private var policy: TransferPolicy
    /// What the child posts, as a plural.
    private let purpose: String
    private let log: Log
    private var child: Task<Child, any Error>?
    /// The lookup files that the child's sandbox allows.
    private var lookups: FileIdentities?
    /// Replaced children that are still sending.
    private var retired: [Int: Child] = [:]
    /// The number of the current child, from 1.
    private var generation = 0
    private var number = 0
    private var waiting: [Int: Wait] = [:]
    private var isClosed = false
    /// The timeout for a reply, and for the exit of a replaced child.
    private let timeout: Duration

    private static let closed = Failure(.crashed, "the worker stopped before it received a response")

    private struct Wait {
        let generation: Int
        let continuation: CheckedContinuation<PostAnswer, Never>
    }

    /// Starts no child yet, and removes the operator's keys and credentials from the child's policy.
    package init(
        policy: TransferPolicy, purpose: String, log: Log, timeout: Duration = .seconds(PostRequest.timeout + 10)
    ) {
        self.policy = policy
        self.purpose = purpose
        self.log = log
        self.timeout = timeout
        self.policy.s3 = S3Settings()
        self.policy.credentials = CredentialSettings()
        self.policy.sshKeyFile = nil
        self.policy.knownHostsFile = nil
    }

    /// Posts the body, and returns the result. Throws if this host cannot start the child.
    package func post(_ body: Data, to url: String, headers: [String]) async throws(Failure) -> PostAnswer {
        guard !isClosed else { return PostAnswer(failure: Self.closed) }
        let (living, generation): (Child, Int)
        do { (living, generation) = try await livingChild() } catch {
            throw Failure(.internal, "the process that sends \(purpose) cannot be started: \(error)")
        }
        if isClosed {
            living.kill()
            return PostAnswer(failure: Self.closed)
        }
        number += 1
        let message = PostRequest(number: number, url: url, headers: headers, body: body)
        let alarm = killAfterTimeout(living)
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            waiting[message.number] = Wait(generation: generation, continuation: continuation)
            Task {
                await living.sendWaiting(PostOrder.post(message))
                // The end of the child may have been reported before the wait was registered.
                if living.isReaped { fail(generation, "the process that sends \(purpose) has exited") }
            }
        }
    }

    /// Kills a child after the timeout, unless the task is cancelled.
    private func killAfterTimeout(_ child: Child) -> Task<Void, Never> {
        Task { [timeout] in
            guard (try? await Task.sleep(for: timeout)) != nil else { return }
            child.kill()
        }
    }

    /// Kills the child, and fails all requests being sent, and later ones.
    package func close() async {
        isClosed = true
        guard let child = try? await child?.value else { return }
        for generation in [generation] + retired.keys { fail(generation, Self.closed.message) }
        for child in [child] + retired.values { child.kill() }
    }

    /// Closes a replaced child once it has no more outstanding requests.
    private func closeIfIdle(_ generation: Int) {
        guard !waiting.values.contains(where: { $0.generation == generation }) else { return }
        retired.removeValue(forKey: generation)?.close()
    }

    /// The current child and its generation; starts one if necessary.
    private func livingChild() async throws -> (Child, Int) {
        // Without a response, the child remains until there is one.
        let found = await LookupFiles.shared.identities(policy, within: timeout) ?? lookups
        while let child {
            let asked = generation
            if let living = try? await child.value, !living.isReaped {
                if found == lookups { return (living, asked) }
                if asked == generation {
                    retired[generation] = living
                    _ = killAfterTimeout(living)
                    closeIfIdle(generation)
                }
            }
            // Another call may have started the next one in the meantime.
            if asked == generation { break }
        }
        generation += 1
        lookups = found
        let starting = Task { [weak self, policy, purpose, log, generation] in
            let child = try await Child.spawn(
                "respool-transfer", role: [PostRequest.role],
                Child.Handlers<PostReport>(
                    report: { report, _ in
                        Task { await self?.take(report) }
                        return true
                    },
                    ended: { ending in
                        Task { await self?.fail(generation, "the process that sends \(purpose) crashed: \(ending)") }
                    },
                    wrote: { log.wrote($0, child: "respool-transfer for \(purpose)") }))
            child.send(PostOrder.hello(version: slotProtocolVersion, policy: policy))
            return child
        }
        child = starting
        let started = generation
        return (try await starting.value, started)
    }

    private func take(_ report: PostReport) {
        guard case .answered(let number, var answer) = report else { return }
        answer.failure = answer.failure?.bounded
        answer.retryAfter = answer.retryAfter.map { max(0, min($0, 1e6)) }
        guard let wait = waiting.removeValue(forKey: number) else { return }
        wait.continuation.resume(returning: answer)
        closeIfIdle(wait.generation)
    }

    private func fail(_ generation: Int, _ what: String) {
        retired[generation] = nil
        let answer = PostAnswer(failure: Failure(.crashed, what))
        for (number, wait) in waiting where wait.generation == generation {
            waiting[number] = nil
            wait.continuation.resume(returning: answer)
        }
    }
}
