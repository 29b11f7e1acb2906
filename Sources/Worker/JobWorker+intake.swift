import Jobs
import Lifecycle

extension JobWorker {
    /// Takes jobs until the worker drains, and returns when the last one is over.
    func runJobs() async {
        await withDiscardingTaskGroup { jobs in
            while !isDraining {
                await freeSlot()
                let wanted = free.count
                guard !isDraining, let claim = await claim(wanted) else { break }
                for job in claim.jobs { start(job, in: &jobs) }
                if claim.jobs.count < wanted, !isDraining { await waitAtTheDoorbell(claim) }
            }
            // What woke this worker last may have been meant for a job that it does not take.
            do throws(QueueError) { try await queue.ring() } catch {
                log.debug("no other worker could be woken: \(error)")
            }
        }
    }

    /// Waits until a slot is free, or the worker drains.
    private func freeSlot() async {
        guard free.isEmpty else { return }
        await withCheckedContinuation { vacancy = $0 }
    }

    /// Asks for jobs until there is an answer; nothing if the worker is to stop and no answer comes.
    ///
    /// The nonce stays the same, for an answer that got lost may have given jobs.
    private func claim(_ count: Int) async -> Claim? {
        let nonce = Nonce.random()
        let backoff = Backoff(base: .milliseconds(50), cap: .seconds(1))
        var failures = 0
        var deadline: ContinuousClock.Instant?
        while true {
            let start = ContinuousClock.now
            do throws(QueueError) {
                let claim = try await queue.claim(nonce: nonce, count: count, worker: record.name)
                metrics.answered("claim", seconds: start.duration(to: .now).seconds)
                if contact.answered() { await ledger.resend() }
                return claim
            } catch {
                failures += 1
                contact.failed("claim", error)
            }
            if isDraining { deadline = deadline ?? .now + .seconds(2) }
            if let deadline, .now >= deadline { return nil }
            try? await Task.sleep(for: backoff.delay(afterFailure: failures))
        }
    }

    private func start(_ job: ClaimedJob, in group: inout DiscardingTaskGroup) {
        let inHand = JobInHand(job, slot: free.removeLast())
        hand.take(inHand)
        metrics.running(hand.count)
        // A job that was claimed while the worker began to drain goes back before it has begun.
        if isDraining { inHand.end(.released) }
        let run = JobRun(
            inHand: inHand, ledger: ledger, metrics: metrics,
            log: log.with("job", job.id).with("attempt", job.attempt))
        group.addTask { await self.carryOut(run) }
    }

    private func carryOut(_ run: JobRun) async {
        await run.run()
        hand.drop(run.inHand)
        metrics.running(hand.count)
        free.append(run.inHand.slot)
        wake()
    }

    /// Waits until there may be something to claim.
    ///
    /// The queue had less than was asked for, so whatever comes now rings; a slot that becomes free changes nothing.
    private func waitAtTheDoorbell(_ claim: Claim) async {
        let next = [claim.nextDue, claim.nextLease].compactMap { $0 }.min() ?? 1000
        let wait = Task { [doorbell, contact] in
            do throws(QueueError) { _ = try await doorbell.wait(for: .milliseconds(min(max(next, 1), 1000))) } catch {
                guard !Task.isCancelled else { return }
                contact.failed("waiting for jobs", error)
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        bell = wait
        await wait.value
        bell = nil
    }
}
