import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import MediaTypes

extension Route {
    /// The routes of a job's outputs.
    static let outputs: [Route] = [
        Route(
            method: "GET", path: "/v1/jobs/{id}/outputs/{n}", name: "getOutput",
            summary: "The main file of an output, or a range of it; a ticket replaces the token.", role: .read,
            pathParameters: [id, number],
            query: [.queue, .ticket], takesTicket: true,
            responses: [
                (200, "the file", Schema.bytes), (206, "a range of the file", Schema.bytes),
                (304, "the client has the file", Schema.any),
            ], contentType: "*/*"
        ) { request in
            let (folder, report, finished) = try await output(request)
            return try await withBlocking { () throws(Problem) in
                try reply(request.http, report, folder.open(report, finished: finished))
            }
        },
        Route(
            method: "POST", path: "/v1/jobs/{id}/outputs/{n}/ticket", name: "createTicket",
            summary: "A URL for this output alone, which takes no token, for 10 minutes.", role: .read,
            pathParameters: [id, number], query: [.queue],
            responses: [(200, "the ticket", Schema.object(["url": Schema.string, "expires": Schema.string]))]
        ) { request in
            let (folder, report, finished) = try await output(request)
            try await withBlocking { () throws(Problem) in _ = try folder.open(report, finished: finished) }
            let (id, number) = (request.values["id"] ?? "", request.whole("n") ?? 0)
            let queue = try request.queue().name.text
            let expires = RequestSigner.now + ticketSeconds
            let ticket = request.context.signer.sign(["ticket", queue, id, "\(number)"], until: expires)
            return Reply([
                "url": "\(request.context.basePath)/v1/jobs/\(id)/outputs/\(number)?queue=\(queue)&ticket=\(ticket)",
                "expires": WallClock.timestamp(milliseconds: expires * 1000),
            ])
        },
    ]

    private static let ticketSeconds: Int64 = 600
    private static let number = Parameter("n", .whole(outputNumbers), "the number of the output, from 0")
    static let outputNumbers = 0...999

    /// The output that a request names, and when its job ended.
    private static func output(_ request: APIRequest) async throws -> (OutputFolder, OutputReport, Int64?) {
        let previews = request.context.previews?.files
        guard let outputs = request.context.outputs ?? previews else { throw Problem.noDownloads }
        let job = try await request.job(try request.queue())
        let (number, reports) = (request.whole("n") ?? 0, job.outputs ?? [])
        guard reports.indices.contains(number), reports[number].isMade else {
            throw Problem(404, "not_found", "the job \(job.id) has no output \(number): it is \(job.state.rawValue)")
        }
        let isPreview = previews?.contains(reports[number]) == true
        return (isPreview ? previews! : outputs, reports[number], job.finishedAt)
    }

    private static func reply(
        _ http: HTTPRequest, _ report: OutputReport, _ output: consuming OutputFolder.Output
    ) throws(Problem) -> Reply {
        let tag = "\"\(report.sha256)\""
        let size = output.bytes
        var headers = [
            ("ETag", tag), ("Accept-Ranges", "bytes"), ("Cache-Control", "private, no-cache"),
            ("Content-Disposition", FileDisposition.attachment(output.name)), ("Content-Security-Policy", "sandbox"),
        ]
        let known = http.header("if-none-match")?.split(separator: ",") ?? []
        if known.contains(where: { $0.filter { $0 != " " } == tag || $0 == "*" }) {
            var reply = Reply(status: 304, contentType: "", body: [])
            reply.headers = headers
            return reply
        }
        let isSame = http.values("if-range").first.map { $0 == tag } ?? true
        var (status, range) = (200, 0..<size)
        switch ByteRange(isSame ? http.header("range") : nil, size: size) {
        case .whole: break
        case .part(let part):
            (status, range) = (206, part)
            headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"))
        case .unsatisfiable:
            var problem = Problem(
                416, "range_not_satisfiable", "the file has \(size) bytes, and the range begins later")
            problem.headers = [("Content-Range", "bytes */\(size)")]
            throw problem
        }
        let type = AudioFormat.named(report.format)?.mediaType ?? "application/octet-stream"
        var reply = Reply(status: status, contentType: type, file: HTTPFile(output.file, range: range))
        reply.headers = headers
        return reply
    }
}
