import Crypto
import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import Text

/// Pushes the jobs of a request, once for each idempotency key.
struct JobPush {
    private let request: APIRequest
    private let queue: JobQueue

    init(_ request: APIRequest) throws(Problem) {
        self.request = request
        queue = try request.queue()
    }

    /// A pushed job in JSON.
    struct Pushed: Encodable {
        let id: String
        let duplicate: Bool
    }

    func run(_ body: PushedBody) async throws -> Reply {
        guard let key = request.idempotencyKey else { return try await push(body, nonce: Nonce.random()) }
        // A token's keys are its own.
        let name = Digest.of(Array("\(request.token.name)\n\(key)".utf8))
        let reservation = JobQueue.ReplyKey(name, fingerprint: Digest.of(request.body))
        let found = try await queue.reserveReply(reservation)
        switch found {
        case .reserved: break
        case .inProgress:
            var problem = Problem(
                409, "in_progress", "a request with this idempotency key is being processed: repeat it later")
            problem.headers = [("Retry-After", "1")]
            throw problem
        case .otherRequest:
            throw Problem(422, "key_reused", "the idempotency key was used with another body: use a new key")
        case .stored(let text): return stored(text)
        }
        do {
            // With the nonce of the key and the body, a push whose reply was lost is not repeated.
            let nonce = Digest.of(Array("\(name)\n\(reservation.fingerprint)".utf8))
            let reply = try await push(body, nonce: String(nonce.prefix(32)))
            // The jobs are pushed: an error here must not say otherwise.
            try? await queue.storeReply(
                reservation, "\(reply.status) " + String(decoding: reply.bytes, as: UTF8.self))
            return reply
        } catch {
            if Problem(of: error).status < 500 {
                try? await queue.removeReply(reservation)
            } else {
                // Jobs may have been pushed.
                try? await queue.releaseReply(reservation)
            }
            throw error
        }
    }

    /// The first response again.
    private func stored(_ text: String) -> Reply {
        var reply = Reply(
            status: text.hasPrefix("201") ? 201 : 200, contentType: "application/json",
            body: Array(text.utf8.dropFirst(4)))
        if case .object(let members)? = JSONBody.value(reply.bytes), case .string(let id)? = members["id"] {
            reply.headers = [request.location(ofJob: id, in: queue)]
        }
        return reply
    }

    /// The response with one job.
    func reply(_ pushed: Pushed, status: Int) -> Reply {
        var reply = Reply(pushed, status: status, subjects: [pushed.id])
        reply.headers = [request.location(ofJob: pushed.id, in: queue)]
        return reply
    }

    private func push(_ body: PushedBody, nonce: String) async throws -> Reply {
        let items: [JSONValue]
        switch body {
        case .one(let job):
            let spec = try await check(job, at: "")
            return reply(try await enqueue([spec], nonce) { _ in "" }[0], status: 201)
        case .list(let list): items = list
        }
        var specs: [JobSpec] = []
        var parts: [Problem.Part] = []
        for (index, item) in items.enumerated() {
            do throws(Problem) { specs.append(try await check(item, at: "/jobs/\(index)")) } catch {
                guard error.status == 422 else { throw error }
                parts += error.parts
            }
        }
        guard parts.isEmpty else { throw Problem.wrong(parts) }
        let answers = try await enqueue(specs, nonce) { "/jobs/\($0)" }
        return Reply(["jobs": answers], subjects: answers.map(\.id))
    }

    /// Validates a job in full.
    private func check(_ value: JSONValue, at pointer: String) async throws(Problem) -> JobSpec {
        var fields = try FieldText.fields(value, at: pointer)
        // One that is not valid is ignored, as W3C Trace Context has it; so the document does not list the header.
        if fields["traceparent"] == nil, let parent = request.http.header("traceparent"), TraceParent(parent) != nil {
            fields["traceparent"] = parent
        }
        let named = fields["source"]
        if let named { fields["source"] = try await UploadedSource(request).url(named, at: "\(pointer)/source") }
        let spec: JobSpec
        do throws(Failure) { spec = try JobSpec(fields: fields) } catch {
            throw Problem.wrong(Problem.Part.all(error, at: pointer))
        }
        guard request.token.allows(group: spec.group) else {
            throw Problem(
                403, "scope_denied",
                "the token is for groups that begin with \(request.token.groupPrefix!): set `group`")
        }
        try request.checkKeys(spec.fields, at: pointer)
        if let start = spec.start?.milliseconds, named?.hasPrefix(UploadedSource.scheme) == true,
            let upload = request.context.uploads?.id(ofSource: fields["source"])
        {
            _ = await request.keepUpload(upload, start: start)
        }
        return spec
    }

    /// Refuses a push whose response would name a job that the token does not allow.
    private func checkHolders(_ specs: [JobSpec]) async throws {
        guard request.token.groupPrefix != nil else { return }
        let keys = Set(specs.compactMap(\.dedup)).sorted()
        let holders = try await queue.jobs(try await queue.holders(ofDedup: keys))
        guard holders.allSatisfy({ $0.map { request.token.allows(group: $0.group) } ?? true }) else {
            throw Problem(409, "dedup_held", "a job that the token is not for holds the dedup key: use another one")
        }
    }

    /// Pushes the jobs; `pointer` is where a job is in the body.
    func enqueue(
        _ specs: [JobSpec], _ nonce: String, pointer: (Int) -> String
    ) async throws -> [Pushed] {
        try await checkHolders(specs)
        do throws(QueueError) {
            return try await queue.enqueue(specs, nonce: nonce).map { Pushed(id: $0.id, duplicate: $0.isDuplicate) }
        } catch {
            guard case .invalidJob(let index, let failure) = error else { throw error }
            throw Problem.wrong(Problem.Part.all(failure, at: pointer(index)))
        }
    }
}

extension JobSpec.Moment {
    /// The instant for a job that is pushed now, in milliseconds since 1970.
    fileprivate var milliseconds: Int64 {
        switch self {
        case .after(let duration): WallClock.milliseconds() + duration.milliseconds
        case .at(let instant): instant
        }
    }
}

/// One job, or a list of jobs.
enum PushedBody: RequestBody {
    case one(JSONValue)
    case list([JSONValue])

    static let schema: JSONValue = ["type": "object"]
    static let documentedSchema: JSONValue = ["oneOf": .array(["JobFields", "Jobs"].map(Schema.named))]

    init(_ members: [String: JSONValue]) throws(Problem) {
        guard let list = members["jobs"] else {
            self = .one(.object(members))
            return
        }
        guard case .array(let items) = list, (1...Route.maxJobs).contains(items.count), members.count == 1 else {
            throw .wrong([.init("/jobs", "`jobs` must be a list of 1 to \(Route.maxJobs) jobs, and the only member")])
        }
        self = .list(items)
    }
}
