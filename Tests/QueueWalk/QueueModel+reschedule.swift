import Jobs

extension QueueModel {
    /// What a reschedule should answer; the instant is long over, or far away.
    mutating func reschedule(_ id: String, rank: Int?, start: JobStart?) -> RescheduleAnswer {
        guard let job = job(id) else { return .unknown }
        guard job.state == .delayed || job.state == .waiting && start != .now else { return .wrongState(job.state) }
        if let rank { jobs[job.id]!.rank = rank }
        switch start {
        case nil: break
        case .notBefore(1...)?:
            jobs[job.id]!.state = .delayed
            jobs[job.id]!.isDue = false
        case .now?, .notBefore?:
            if job.state == .delayed { promote(job.id) }
        }
        return .rescheduled
    }
}
