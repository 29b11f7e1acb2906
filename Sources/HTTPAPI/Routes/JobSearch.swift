import Crypto
import FoundationEssentials
import JobSchema
import Jobs
import Lifecycle
import Text

/// A list of jobs with filters. It looks at a bounded number of entries for each request.
struct JobSearch {
    private let request: APIRequest
    private let queue: JobQueue
    private let values: [String: String]
    private let limit: Int

    /// The maximum number of entries that one request looks at.
    static let maxScanned = 1000
    /// The maximum number of reads for one request.
    private static let maxReads = 40

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
        self.limit = limit
        if let prefix = request.token.groupPrefix, !(values["group"] ?? "").hasPrefix(prefix) {
            throw Problem(403, "scope_denied", "the token is for groups that begin with \(prefix): give group")
        }
    }

    struct Page: Encodable {
        var jobs: [JobRecord] = []
        @Nullable var next: String?
        var scanned = 0
    }

    /// A page of the jobs; it may be short, and `next` says whether there may be more.
    func run() async throws(Problem) -> Reply {
        var found = try await page(from: try start()) { _ in true }
        found.next = found.next.map { "\(fingerprint).\($0)" }
        var reply = Reply(found)
        if let next = found.next { reply.headers = [("Link", "<\(link(next))>; rel=\"next\"")] }
        return reply
    }

    /// The wanted jobs among those that match, from a position on; `next` is the position after them.
    func page(from start: String?, where isWanted: (JobRecord) -> Bool) async throws(Problem) -> Page {
        var page = Page()
        var cursor = start
        var reads = 0
        let now = WallClock.milliseconds()
        repeat {
            let count = min(limit - page.jobs.count, Self.maxScanned - page.scanned)
            let (jobs, scanned, next) = try await read(cursor, count)
            page.jobs += jobs.filter { matches($0, now) && isWanted($0) }
            page.scanned += scanned
            cursor = next
            reads += 1
        } while cursor != nil && page.jobs.count < limit && page.scanned < Self.maxScanned && reads < Self.maxReads
        page.next = cursor
        return page
    }

    /// Some jobs, how many entries were looked at, and where to continue.
    private func read(
        _ cursor: String?, _ count: Int
    ) async throws(Problem) -> (jobs: [JobRecord], scanned: Int, next: String?) {
        let state = values["state"].flatMap(JobState.init)
        guard let group = values["group"] else {
            let place = cursor.flatMap(JobCursor.init(text:))
            let page = try await request.ask { () throws(QueueError) in
                try await queue.list(state: state, limit: count, cursor: place)
            }
            return (page.jobs, page.next == nil ? page.jobs.count : count, page.next?.text)
        }
        let place = cursor.flatMap(GroupCursor.init(text:))
        let members = try await request.ask { () throws(QueueError) in
            try await queue.members(of: group, rank: state.map(GroupCursor.Rank.init), limit: count, cursor: place)
        }
        let jobs = try await request.ask { () throws(QueueError) in try await queue.jobs(members.ids) }
        return (jobs.compactMap { $0 }, members.ids.count, members.next?.text)
    }

    private func matches(_ job: JobRecord, _ now: Int64) -> Bool {
        if let state = values["state"], job.state.rawValue != state { return false }
        if let group = values["group"], job.group != group { return false }
        if let code = values["code"], job.error?.code.rawValue != code { return false }
        if let key = values["limit_key"], job.limitKey != key { return false }
        if let worker = values["worker"], job.worker != worker { return false }
        if let source = values["source"], job.source?.hasPrefix(source) != true { return false }
        if let text = values["q"], !job.id.contains(text), job.source?.contains(text) != true { return false }
        if let age = values["older_than"].flatMap({ Int($0) }), now - job.createdAt < Int64(age) * 1000 { return false }
        return true
    }

    /// Where the page begins; a cursor of other filters is refused.
    private func start() throws(Problem) -> String? {
        guard let text = values["cursor"] else { return nil }
        let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
        let isValid =
            parts.count == 2 && parts[0] == fingerprint
            && (values["group"] == nil ? JobCursor(text: parts[1]) != nil : GroupCursor(text: parts[1]) != nil)
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
