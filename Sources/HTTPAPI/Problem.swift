import FoundationEssentials
import HTTPServer
import JobSchema
import Jobs

/// Why a request is refused, as RFC 9457 has it.
package struct Problem: Error, Sendable {
    let status: Int
    /// For programs; respool's error code where it has one.
    let code: String
    let detail: String
    /// The parts of the body that are wrong.
    var parts: [Part] = []
    var headers: [(name: String, value: String)] = []
    /// For the log, instead of the detail, which the client sees.
    var reason: String?
    /// What the request had changed before it failed, for the log.
    var done = PartialChange()

    /// One wrong part of the body.
    struct Part: Sendable, Encodable {
        /// A JSON pointer (RFC 6901).
        let pointer: String
        let code: String
        let message: String
    }

    init(_ status: Int, _ code: String, _ detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    /// The problem of what a handler throws: that itself, or the failure of a call of the queue.
    init(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as QueueError: self.init(error)
        case let failure as Failure:
            self.init(422, failure.code.rawValue, failure.message)
            parts = Part.all(failure, at: "")
        default:
            self.init(500, "internal", "the server failed; its log has the reason")
            reason = "\(error)"
        }
    }

    private init(_ error: QueueError) {
        switch error {
        case .invalidJob(let index, let failure):
            self.init(422, failure.code.rawValue, failure.message)
            parts = Part.all(failure, at: "/jobs/\(index)")
        // A full memory is transient too.
        case .redis where error.isOutOfMemory:
            self.init(
                503, "redis_full", "the memory of Redis is full: repeat the request later, or raise its maxmemory")
            headers = [("Retry-After", "60")]
        case .redis where error.isTransient || error.isShortOfReplicas:
            self.init(503, "redis_unavailable", "Redis does not respond: repeat the request later")
            headers = [("Retry-After", "1")]
        case .redis: self.init(500, "internal", "Redis refused a command")
        case .unexpectedAnswer: self.init(500, "internal", "a script of the queue returned an unexpected answer")
        }
    }

    static let types = "urn:respool:problem:"

    func response(to path: String?) -> HTTPResponse {
        let body = Body(
            type: Self.types + code, title: Self.title(status), status: status, code: code, detail: detail,
            instance: path, errors: parts.isEmpty ? nil : parts)
        var response = HTTPResponse(
            status: status, contentType: "application/problem+json", .bytes(JSONBody.bytes(body)))
        response.headers = headers
        return response
    }

    private struct Body: Encodable {
        let type: String
        let title: String
        let status: Int
        let code: String
        let detail: String
        let instance: String?
        let errors: [Part]?
    }

    private static func title(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 429: "Too Many Requests"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 507: "Insufficient Storage"
        case 503: "Service Unavailable"
        default: "Internal Server Error"
        }
    }
}

/// What a request had changed before it failed.
struct PartialChange: Sendable {
    /// The ids or names that were changed.
    var subjects: [String] = []
    /// The ids of a call without an answer, which may have been changed.
    var unanswered: [String] = []

    var isEmpty: Bool { subjects.isEmpty && unanswered.isEmpty }
}

extension Problem.Part {
    /// A part whose value does not follow the rules of respool.
    init(_ pointer: String, _ message: String) {
        self.init(pointer: pointer, code: ErrorCode.invalidRequest.rawValue, message: message)
    }

    /// The wrong fields of a job, below its pointer; the job itself if the failure is of no field.
    static func all(_ failure: Failure, at pointer: String) -> [Self] {
        guard let fields = failure.fields, !fields.isEmpty else {
            return [Self(pointer: pointer, code: failure.code.rawValue, message: failure.message)]
        }
        return fields.map {
            Self(pointer: pointer + self.pointer($0.field), code: failure.code.rawValue, message: $0.message)
        }
    }

    /// A field as a pointer: `outputs[1].gain` is `/outputs/1/gain`.
    private static func pointer(_ field: String) -> String {
        guard let (_, index, name) = field.wholeMatch(of: /outputs\[([0-9]+)\](?:\.(.+))?/)?.output else {
            return "/\(FieldText.escaped(field))"
        }
        return "/outputs/\(index)" + (name.map { "/\(FieldText.escaped(String($0)))" } ?? "")
    }
}
