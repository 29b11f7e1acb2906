import JobSchema
import Jobs

extension Route {
    /// The maximum number of jobs in one request.
    static let maxJobs = 1000

    /// The routes that push and read jobs.
    static let jobs: [Route] = [
        Route(
            method: "POST", path: "/v1/jobs", name: "pushJobs",
            summary: "Pushes one job, or up to 1,000 as `jobs`; if one is not valid, none is pushed.", role: .push,
            query: [.queue],
            body: PushedBody.self, maxBodyBytes: 4 << 20, isIdempotent: true,
            responses: [
                (201, "the job", pushed),
                (200, "the jobs, in their order", Schema.named("PushedJobs")),
            ], link: "getJob"
        ) { request, body in
            try await JobPush(request).run(body)
        },
        Route(
            method: "GET", path: "/v1/jobs/{id}", name: "getJob", summary: "A job.", role: .read,
            pathParameters: [id], query: [.queue], responses: [(200, "the job", Schema.named("Job"))]
        ) { request in
            Reply(try await request.job(try request.queue()))
        },
        Route(
            method: "GET", path: "/v1/jobs/{id}/log", name: "getJobLog",
            summary: "The latest log lines of a job's attempts.", role: .read, pathParameters: [id], query: [.queue],
            responses: [(200, "the lines", Schema.object(["lines": Schema.array(Schema.string)]))]
        ) { request in
            let queue = try request.queue()
            let job = try await request.job(queue)
            return Reply(["lines": try await queue.log(job.id)])
        },
    ]

    static let id = Parameter("id", .id, "the id of the job")

    private static let pushed = Schema.named("PushedJob")
}
