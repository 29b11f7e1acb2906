import Crypto
import FoundationEssentials
import JobSchema
import Jobs
import Text

/// A list of jobs with filters. It looks at a bounded number of entries for each request.
struct JobSearch {
    private let request: APIRequest
    private let queue: JobQueue
    private let values: [String: String]
    private let filter: JobFilter
    private let limit: Int

    /// The filters, and where the list continues.
    static let parameters = [
        Parameter.queue,
        Parameter("state", .word(JobState.allCases.map(\.rawValue)), "only jobs in this state"),
        Parameter("group", .name, "only jobs of this group"),
        Parameter(
            "code", .word(ErrorCode.allCases.map(\.rawValue)), "only jobs whose last attempt failed with this code"),
        Parameter("limit_key", .limitKey, "only jobs with this limit_key"),
        Parameter("worker", .text(255), "only jobs that this worker (`host:pid`) ran last"),
        Parameter("source", .text(2000), "only jobs whose source begins with this text"),
        Parameter("q", .text(200), "only jobs whose id or redacted source contains this text"),
        Parameter("older_than", .whole(0...31_536_000), "only jobs that were pushed at least that many seconds ago"),
        Parameter("limit", .whole(1...500), "at most this many jobs; 50 if it is not given"),
        Parameter("cursor", .cursor, "`next` of the page before"),
    ]

    /// The filters alone.
    static let filters = parameters.filter { !["queue", "limit", "cursor"].contains($0.name) }

    init(_ request: APIRequest) throws(Problem) {
        try self.init(request, filters: request.values, limit: request.whole("limit") ?? 50)
    }

    init(_ request: APIRequest, filters: [String: String], limit: Int) throws(Problem) {
        self.request = request
        queue = try request.queue()
        values = filters
        filter = JobFilter(filters)
        self.limit = limit
        if let prefix = request.token.groupPrefix, !(filter.group ?? "").hasPrefix(prefix) {
            throw Problem(403, "scope_denied", "the token is for groups that begin with \(prefix): give group")
        }
    }

    private struct Page: Encodable {
        let jobs: [JobRecord]
        @Nullable var next: String?
        let scanned: Int
    }

    /// A page of the jobs; it may be short, and `next` says whether there may be more.
    func run() async throws -> Reply {
        let found = try await page(from: try start())
        let next = found.next.map { "\(fingerprint).\($0)" }
        var reply = Reply(Page(jobs: found.jobs, next: next, scanned: found.scanned))
        if let next { reply.headers = [("Link", "<\(link(next))>; rel=\"next\"")] }
        return reply
    }

    /// The jobs in some states that match, from a position on; `next` is the position after them.
    func page(
        from start: String?, among states: Set<JobState> = Set(JobState.allCases)
    ) async throws -> FoundJobs {
        try await queue.find(filter, among: states, from: start, limit: limit)
    }

    /// Where the page begins; a cursor of other filters is refused.
    private func start() throws(Problem) -> String? {
        guard let text = values["cursor"] else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
        let isValid =
            parts.count == 2 && parts[0] == fingerprint && filter.accepts(position: parts[1])
        guard isValid else {
            throw Problem(409, "invalid_cursor", "the cursor is not one of a list with these filters")
        }
        return parts[1]
    }

    /// The address of the next page.
    private func link(_ next: String) -> String {
        let query = values.merging(["cursor": next]) { $1 }.sorted { $0.key < $1.key }.map { name, value in
            "\(name)=\(PercentEncoding.encoded(value, keeping: PercentEncoding.unreserved.contains))"
        }
        return "\(request.context.basePath)/v1/jobs?" + query.joined(separator: "&")
    }

    /// Distinguishes the filters of lists, so that a cursor is not used with others.
    private var fingerprint: String {
        let filters = values.filter { !["limit", "cursor"].contains($0.key) }.sorted { $0.key < $1.key }
        return String(Digest.of(Array("\(filters)".utf8)).prefix(12))
    }
}
