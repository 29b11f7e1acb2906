import JobSchema
import Lifecycle
import MediaTypes
import Slots
import Testing

@testable import Jobs
@testable import Worker

@Suite struct ActiveJobTests {
    private let job = ActiveJob(
        ClaimedJob(
            id: "1-0", token: "1:a", attempt: 1, attempts: 5, crashes: 0, fields: [:], createdAt: 0, commit: nil),
        session: PairSession(number: 0, configuration: SlotConfiguration(), log: Log(least: .error)))

    @Test func `a job keeps the first reason to end it, and the loss of the lease above all`() {
        job.end(.cancelled)
        job.end(.timedOut)
        #expect(job.ending == .cancelled)
        #expect(job.heartbeat != nil)
        job.end(.lost)
        #expect(job.ending == .lost)
        #expect(job.heartbeat == nil)
    }

    @Test func `a job that was ended is not published`() {
        job.end(.released)
        #expect(!job.beginPublishing())
    }

    @Test(arguments: [ActiveJob.Ending.cancelled, .timedOut, .released])
    func `a job cannot be ended while its result becomes visible`(ending: ActiveJob.Ending) {
        job.report(Progress(phase: .converting, position: 3))
        #expect(job.beginPublishing())
        job.end(ending)
        job.report(Progress(phase: .converting, position: 4))
        #expect(job.ending == nil)
        #expect(job.heartbeat?.progress == Progress(phase: .converting, position: 3))
        job.showPublishing()
        #expect(job.heartbeat?.progress == Progress(phase: .publishing, position: 3))
    }

    @Test func `a job whose result becomes visible when the process ends is left to the next owner`() {
        #expect(job.beginPublishing())
        job.interrupt()
        #expect(job.ending == .lost)
    }

    @Test func `a job that its slot has finished cannot be ended any more`() {
        #expect(job.releaseSlot() == nil)
        job.end(.lost)
        #expect(job.ending == nil)
        #expect(job.heartbeat != nil)
    }

    @Test func `a job that was claimed ahead waits until it may begin`() async {
        async let mayBegin = job.waitToBegin()
        job.begin()
        #expect(await mayBegin)
        #expect(job.hasBegun)
    }

    @Test(arguments: [ActiveJob.Ending.cancelled, .lost, .released, .expired])
    func `a job that was claimed ahead ends before it begins`(ending: ActiveJob.Ending) async {
        async let mayBegin = job.waitToBegin()
        job.end(ending)
        #expect(await !mayBegin)
        #expect(job.releaseSlot() == ending)
    }

    @Test func `a job replaces an earlier attempt of the same job, which is lost`() {
        let jobs = ActiveJobs()
        let later = ActiveJob(job.job, session: job.session)
        jobs.insert(job)
        jobs.insert(later)
        #expect(job.ending == .lost)
        #expect(later.ending == nil)
        jobs.remove(job)
        #expect(jobs.count == 1)
        jobs.remove(later)
        #expect(jobs.count == 0)
    }
}
