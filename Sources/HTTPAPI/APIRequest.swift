import HTTPServer
import JobSchema
import Jobs

/// A request whose token, path and query were checked.
struct APIRequest: Sendable {
    let context: APIContext
    let token: AccessToken
    /// The parameters of the path and the query.
    let values: [String: String]
    let idempotencyKey: String?
    /// The header Last-Event-ID.
    let lastEventID: String?
    /// The request itself, for its headers.
    let http: HTTPRequest
    var body: [UInt8] { http.body }

    func whole(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// The queue that the request names, or the first one.
    func queue() throws(Problem) -> JobQueue {
        let name = values["queue"] ?? token.queue ?? context.queues[0].name.text
        guard token.queue == nil || token.queue == name else {
            throw Problem(403, "scope_denied", "the token is for the queue \(token.queue!)")
        }
        guard let queue = context.queues.first(where: { $0.name.text == name }) else {
            throw Problem(404, "not_found", "this server does not serve the queue \(name)")
        }
        return queue
    }

    /// The queue, for what concerns all its jobs.
    func wholeQueue() throws(Problem) -> JobQueue {
        guard token.groupPrefix == nil else {
            throw Problem(403, "scope_denied", "the token is for groups that begin with \(token.groupPrefix!)")
        }
        return try queue()
    }

    /// Does what follows a change. If that fails, the log still names what was changed.
    func after<Answer>(changing subjects: [String], _ rest: () async throws -> Answer) async throws -> Answer {
        do { return try await rest() } catch {
            var problem = Problem(of: error)
            problem.done.subjects = subjects + problem.done.subjects
            throw problem
        }
    }

    /// The job of the path. One that the token is not for does not exist.
    func job(_ queue: JobQueue) async throws -> JobRecord { try await job(queue, id: values["id"] ?? "") }

    /// The job with an id, if the token is for it.
    func job(_ queue: JobQueue, id: String) async throws -> JobRecord {
        let found = try await queue.jobs([id])[0]
        guard let found, token.allows(group: found.group) else {
            throw Problem(404, "not_found", "there is no job \(id): it may have been deleted")
        }
        return found
    }

    /// Where a job is; the path alone would be one of the first queue.
    func location(ofJob id: String, in queue: JobQueue) -> (name: String, value: String) {
        let isFirst = queue.name == context.queues[0].name
        return ("Location", "\(context.basePath)/v1/jobs/\(id)" + (isFirst ? "" : "?queue=\(queue.name.text)"))
    }

    /// Refuses keys that jobs of others may have too, if the token is for groups.
    func checkKeys(_ fields: [String: String], at pointer: String) throws(Problem) {
        guard let prefix = token.groupPrefix else { return }
        let parts = ["dedup", "limit_key"].compactMap { name -> Problem.Part? in
            guard let value = fields[name], !value.isEmpty, !value.hasPrefix(prefix) else { return nil }
            let message = "`\(name)` is `\(FieldText.shown(value))`: with this token, it must begin with \(prefix)"
            return .init(pointer: "\(pointer)/\(name)", code: "scope_denied", message: message)
        }
        guard parts.isEmpty else { throw Problem.wrong(parts) }
    }

    /// Keeps an upload for a job that starts now or then; false if it has just expired.
    func keepUpload(_ id: String, start: Int64?) async -> Bool {
        guard let folder = context.uploads else { return false }
        return (try? await withBlocking { () throws(Problem) in try folder.touch(id, start: start) }) ?? false
    }

    /// Keeps the uploads that jobs read which start again now or then.
    func keepUploads(of jobs: [JobRecord], start: Int64? = nil) async {
        for id in Set(jobs.compactMap { context.uploads?.id(ofSource: $0.source) }) {
            _ = await keepUpload(id, start: start)
        }
    }
}

/// What all requests share.
struct APIContext: Sendable {
    /// The queues that are served; the first is the default.
    let queues: [JobQueue]
    /// What sends the events of each queue.
    let hubs: [EventHub]
    /// What `/metrics` shows.
    let metrics: ServerMetrics
    /// Whether Redis responds.
    let isReady: @Sendable () -> Bool
    /// The folder of outputs that can be downloaded; `nil` if there is none.
    let outputs: OutputFolder?
    /// The folder of uploads; `nil` if there is none.
    let uploads: UploadFolder?
    /// The folder of previews; `nil` if there is none.
    let previews: PreviewFolder?
    /// The path below which a proxy has the server; empty for the root.
    let basePath: String
    /// Signs tickets and confirmations.
    let signer = RequestSigner()
    /// The document, as JSON.
    let document: [UInt8]
}
