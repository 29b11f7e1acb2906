import JobSchema
import Jobs
import Lifecycle
import Slots

extension JobWorker {
    /// Takes jobs until the worker drains, and returns when the last one has ended.
    func runJobs() async {
        await withDiscardingTaskGroup { jobs in
            while !isDraining {
                await freeSlot()
                await awaitHost()
                await measureSpace()
                await takeJobs(in: &jobs)
                beginPrefetched()
                if room == 0 { await ringOn() } else { await waitOnDoorbells() }
            }
            await returnUnanswered(in: &jobs)
            // The last bell may have been for a job that this worker does not take, so another worker is woken.
            for index in queues.indices { inquiries[index].isRung = true }
            await ringOn()
        }
    }

    /// Waits until there is room for a job, one that was claimed ahead may be converted, or the worker drains.
    private func freeSlot() async {
        guard room == 0, !mayBegin, !isDraining else { return }
        await withCheckedContinuation { rest = $0 }
    }

    /// Claims jobs from the queues that may have some, in their order, until no slot is free or no queue has any.
    private func takeJobs(in group: inout DiscardingTaskGroup) async {
        var open = queues.indices.filter { inquiries[$0].bell == nil }
        let most = JobQueue.claimSize(slots: configuration.slots)
        while !isDraining, let turn = rotation.next(among: open, free: min(room, most)) {
            let claim = await claim(turn.count, from: turn.queue)
            for job in claim?.jobs ?? [] { start(job, after: claim?.waits[job.id], of: turn.queue, in: &group) }
            // A paused queue starts none of its jobs.
            if claim?.isPaused == true { for job in prefetched.all(of: turn.queue) { job.end(.released) } }
            rotation.giveBack(turn.count - min(turn.count, claim?.jobs.count ?? 0), of: turn.queue, among: open)
            guard let claim, claim.hasMore || claim.jobs.count >= turn.count else {
                open.removeAll { $0 == turn.queue }
                continue
            }
        }
    }

    /// Claims jobs from a queue; `nil` if the call failed.
    private func claim(_ count: Int, from index: Int) async -> Claim? {
        let queue = queues[index].queue
        let request = inquiries[index].request ?? ClaimRequest()
        inquiries[index].request = request
        inquiries[index].isDue = false
        inquiries[index].isRung = false
        let start = ContinuousClock.now
        do throws(QueueError) {
            let claim = try await queue.claim(request, count: count, worker: record.name)
            let metrics = metrics.serving(queue.name)
            metrics.answered("claim", seconds: start.duration(to: .now).seconds)
            for wait in claim.waits.values { metrics.waited(seconds: wait.seconds) }
            inquiries[index].request = nil
            queues[index].lostLeases.report(claim.lostLeases)
            inquiries[index].failures = 0
            let next = [claim.nextDue, claim.nextLease].compactMap { $0 }.min() ?? 1000
            inquiries[index].rest = .milliseconds(min(max(next, 1), 1000))
            if health.answered(queue.name) { Task { await queues[index].reporter.resend() } }
            return claim
        } catch {
            inquiries[index].failures += 1
            health.failed("claim", queue.name, error)
            return nil
        }
    }

    /// Repeats claims whose replies were lost; jobs that they return are released.
    private func returnUnanswered(in group: inout DiscardingTaskGroup) async {
        let deadline = ContinuousClock.now + .seconds(2)
        for index in queues.indices {
            while inquiries[index].request != nil, .now < deadline {
                let claim = await claim(1, from: index)
                for job in claim?.jobs ?? [] { start(job, after: claim?.waits[job.id], of: index, in: &group) }
                if claim == nil {
                    try? await Task.sleep(for: Self.backoff.delay(afterFailure: inquiries[index].failures))
                }
            }
        }
    }

    private func start(
        _ job: ClaimedJob, after wait: Duration?, of queue: Int, in group: inout DiscardingTaskGroup
    ) {
        let served = queues[queue]
        guard room > 0 else {
            // A late reply can return more jobs than there are free slots now.
            group.addTask { _ = await served.reporter.finish(job, .released, lines: []) }
            return
        }
        let active = ActiveJob(job, session: takeSession(for: job))
        take(active, of: queue)
        served.activeJobs.insert(active)
        reportJobs()
        // A job that was claimed while the worker began to drain is released before it starts.
        if isDraining { active.end(.released) }
        var log = log.with("job", job.id).with("attempt", job.attempt)
        if queues.count > 1 { log = log.with("queue", served.queue.name.text) }
        let trace = AttemptTrace(job, of: served.queue.name, after: wait, worker: record.name, exporter: spans)
        if let id = trace?.traceID ?? job.traceParent?.traceID { log = log.with("trace_id", id) }
        let metrics = metrics.serving(served.queue.name)
        let run = JobRun(active: active, reporter: served.reporter, metrics: metrics, log: log, trace: trace) {
            Task { await self.endConversion(of: active) }
        }
        group.addTask { await self.execute(run, of: served) }
    }

    /// Takes a free slot. If the job has a tenant, prefers a slot whose children have run jobs of that tenant, then one
    /// without a tenant.
    private func takeSession(for job: ClaimedJob) -> PairSession {
        let tenant = free.last?.tenant(of: job.fields)
        let index = tenant.flatMap { tenant in
            free.lastIndex { $0.tenant == tenant } ?? free.lastIndex { $0.tenant == nil }
        }
        return free.remove(at: index ?? free.endIndex - 1)
    }

    private func execute(_ run: JobRun, of served: ServedQueue) async {
        await run.run()
        served.activeJobs.remove(run.active)
        // Other callbacks, such as those of groups, are found with the next beat.
        if run.active.job.fields["callback"] != nil, let callbacks { Task { await callbacks.collect(served.queue) } }
        vacate(run.active)
        reportJobs()
    }

    /// Waits until one of the queues may have something to claim.
    ///
    /// Each queue returned fewer jobs than requested, so every new job rings the bell; a slot that becomes free does
    /// not matter.
    private func waitOnDoorbells() async {
        guard !isDraining, !inquiries.contains(where: \.isDue) else { return }
        for index in queues.indices where inquiries[index].bell == nil {
            inquiries[index].bell = Task { await waitOnDoorbell(of: index) }
        }
        await withCheckedContinuation { rest = $0 }
    }

    private func waitOnDoorbell(of index: Int) async {
        let inquiry = inquiries[index]
        if inquiry.failures > 0 {
            try? await Task.sleep(for: Self.backoff.delay(afterFailure: inquiry.failures))
        } else {
            do throws(QueueError) {
                inquiries[index].isRung = try await queues[index].doorbell.wait(for: inquiry.rest) == .rang
            } catch {
                if !Task.isCancelled {
                    health.failed("waiting for jobs", queues[index].queue.name, error)
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
        }
        inquiries[index].bell = nil
        inquiries[index].isDue = true
        if room == 0 { await ringOn() } else { wake() }
    }

    /// Passes the bell on to another worker, because this one has no free slot for the job.
    private func ringOn() async {
        for index in queues.indices where inquiries[index].isRung {
            inquiries[index].isRung = false
            do throws(QueueError) { try await queues[index].queue.ring() } catch {
                log.debug("waking another worker failed: \(error)")
            }
        }
    }
}
