import JobSchema
import Lifecycle

/// The options of a job that the queue itself uses, as one text that `options.lua` unpacks.
enum JobOptions {
    /// Empty for the defaults, else `rank attempts start expires group limit_key deadline callback traceparent dedup`.
    static func pack(_ job: JobSpec) -> String {
        let attempts = job.fields["attempts"] == nil ? nil : job.attempts
        if job.priority == .normal, attempts == nil, job.start == nil, job.expires == nil, job.group == nil,
            job.limitKey == nil, job.deadline == nil, job.callback == nil, job.traceParent == nil, job.dedup == nil
        {
            return ""
        }
        return [
            "\(job.priority.rawValue)", attempts.map(String.init) ?? "*", moment(job.start), moment(job.expires),
            job.group ?? "*", job.limitKey ?? "*", moment(job.deadline), job.callback == nil ? "*" : "1",
            job.traceParent?.text ?? "*", job.dedup ?? "",
        ].joined(separator: " ")
    }

    private static func moment(_ moment: JobSpec.Moment?) -> String {
        switch moment {
        case nil: "*"
        case .after(let delay): "+\(delay.milliseconds)"
        case .at(let instant): "@\(max(0, instant))"
        }
    }
}
