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
        slot: Slot(number: 0, configuration: SlotConfiguration(), log: Log(least: .error)))

    @Test func `keeps the first reason to end it, and the loss of the lease above all`() {
        job.end(.cancelled)
        job.end(.timedOut)
        #expect(job.ending == .cancelled)
        #expect(job.heartbeat != nil)
        job.end(.lost)
        #expect(job.ending == .lost)
        #expect(job.heartbeat == nil)
    }

    @Test func `is not published once it was ended`() {
        job.end(.released)
        #expect(!job.beginPublishing())
    }

    @Test(arguments: [ActiveJob.Ending.cancelled, .timedOut, .released])
    func `cannot be ended while its result becomes visible`(ending: ActiveJob.Ending) {
        job.report(Progress(phase: .converting, position: 3))
        #expect(job.beginPublishing())
        job.end(ending)
        job.report(Progress(phase: .converting, position: 4))
        #expect(job.ending == nil)
        #expect(job.heartbeat?.progress == Progress(phase: .converting, position: 3))
        job.showPublishing()
        #expect(job.heartbeat?.progress == Progress(phase: .publishing, position: 3))
    }

    @Test func `leaves the result to the next owner when the process ends while it becomes visible`() {
        #expect(job.beginPublishing())
        job.interrupt()
        #expect(job.ending == .lost)
    }

    @Test func `cannot be ended any more when its slot is done with it`() {
        #expect(job.releaseSlot() == nil)
        job.end(.lost)
        #expect(job.ending == nil)
        #expect(job.heartbeat != nil)
    }

    @Test func `replaces an earlier try of the same job, which is lost`() {
        let jobs = ActiveJobs()
        let later = ActiveJob(job.job, slot: job.slot)
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
