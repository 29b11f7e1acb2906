package import HTTPServer
package import Jobs
package import Lifecycle
import Redis

/// Answers the requests of the HTTP API, and serves the page.
package struct APIService: HTTPService {
    private let context: APIContext
    private let routes: RouteTable
    private let tokens: AccessTokens?
    private let origins: OriginCheck
    private let page = PageAssets()
    private let reports = PolicyReports()
    private let failures = FailureCount()
    private let proxy: ProxyPath
    private let log: Log

    /// How long a request waits for Redis in all of its calls together; each call has a timeout of its own.
    private static let maxWait: Duration = .seconds(20)

    /// Without tokens, everybody who reaches the address may do everything. `hosts` are further names of the server.
    package init(
        queues: [JobQueue], hubs: [EventHub], address: ListenAddress, tokens: AccessTokens?, hosts: [String] = [],
        outputs: OutputFolder? = nil, uploads: UploadFolder? = nil,
        previews: PreviewFolder? = nil, proxy: ProxyPath = ProxyPath()!, log: Log,
        metrics: ServerMetrics? = nil,
        isReady: @escaping @Sendable () -> Bool
    ) {
        routes = RouteTable(Route.all)
        context = APIContext(
            queues: queues, hubs: hubs, metrics: metrics ?? ServerMetrics(queues: queues, hubs: hubs),
            isReady: isReady, outputs: outputs, uploads: uploads, previews: previews, basePath: proxy.base,
            document: JSONBody.bytes(OpenAPIDocument.document(Route.all, hasTokens: tokens != nil)))
        self.tokens = tokens
        origins = OriginCheck(address: address, names: hosts)
        self.proxy = proxy
        self.log = log
    }

    package func decide(_ request: HTTPRequest) -> HTTPDecision {
        guard let request = proxy.original(request) else {
            return .answer(
                secured(Problem(404, "not_found", "the API is below \(proxy.base)/").response(to: request.path)))
        }
        do throws(Problem) { return try accept(request) } catch {
            // A missing token is no guess. No response is held back: it would keep a connection from others.
            guard error.code == "invalid_token", failures.add(request.client) else {
                return .answer(secured(error.response(to: request.path)))
            }
            return .answer(secured(Problem.guessing.response(to: request.path)).with("Connection", "close"))
        }
    }

    package func probe(_ request: HTTPRequest) -> HTTPResponse? {
        guard let request = proxy.original(request), request.query.isEmpty, ["GET", "HEAD"].contains(request.method)
        else { return nil }
        do throws(Problem) { return try Route.probe(request.path, context).map { secured($0) } } catch {
            return secured(error.response(to: request.path))
        }
    }

    package func refusal(status: Int, _ message: String) -> HTTPResponse {
        let codes = [400: "malformed_request", 413: "too_large", 503: "overloaded"]
        return secured(Problem(status, codes[status] ?? "internal", message).response(to: nil))
    }

    private func accept(_ request: HTTPRequest) throws(Problem) -> HTTPDecision {
        // Health checks come by address.
        if !RouteTable.probes.contains(request.path), let problem = origins.problem(request) { throw problem }
        if let response = try page.response(request) { return .answer(response) }
        if let decision = reports.decision(request, log) { return decision }
        let found = routes.find(request.path)
        let isPublic = found.contains { $0.route.role == nil }
        let token = isPublic ? AccessToken.local : try authenticate(request, found)
        guard !found.isEmpty else { throw Problem(404, "not_found", "there is no such path: see /v1/openapi.json") }
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let (route, pathValues) = found.first(where: { $0.route.method == method }) else {
            var problem = Problem(405, "method_not_allowed", "the path does not take \(method.prefix(16))")
            let methods = found.map(\.route.method).sorted()
            let allowed = methods + (methods.contains("GET") ? ["HEAD"] : [])
            problem.headers = [("Allow", allowed.joined(separator: ", "))]
            throw problem
        }
        if let role = route.role, token.role < role {
            throw Problem(
                403, "role_denied", "the token's role is \(token.role.rawValue), and this takes \(role.rawValue)")
        }
        let values = try route.check(request, pathValues)
        let key = try route.isIdempotent ? Self.idempotencyKey(request) : nil
        if let receiver = route.receiver, let folder = context.uploads {
            let call = APIRequest(
                context: context, token: token, values: values, idempotencyKey: nil, lastEventID: nil, http: request)
            let sink = ReceiverSink(receiver: try receiver(folder, call)) { result in
                response(to: result, request, route, token, values)
            }
            return .receive(maxBodyBytes: folder.maxBytes, sink)
        }
        return .process(maxBodyBytes: route.maxBodyBytes) { request in
            await answer(request, route, token, values, key)
        }
    }

    /// Whom a ticket in the query stands for; `nil` if there is none.
    private func ticket(
        _ request: HTTPRequest, _ found: [(route: Route, values: [String: String])]
    ) throws(Problem) -> AccessToken? {
        guard request.method == "GET" || request.method == "HEAD",
            let values = found.first(where: { $0.route.takesTicket })?.values,
            let text = request.query.first(where: { $0.name == "ticket" })?.value
        else { return nil }
        let queue = request.query.first(where: { $0.name == "queue" })?.value ?? ""
        guard context.signer.isValid(text, for: ["ticket", queue, values["id"] ?? "", values["n"] ?? ""]) else {
            throw Problem(403, "ticket_denied", "the ticket has expired, or is not for this output: get another one")
        }
        return AccessToken(name: "ticket", role: .read, queue: queue, groupPrefix: nil)
    }

    private func authenticate(
        _ request: HTTPRequest, _ found: [(route: Route, values: [String: String])]
    ) throws(Problem) -> AccessToken {
        if let token = try ticket(request, found) { return token }
        guard let tokens else { return .local }
        guard let header = request.header("authorization") else {
            throw .unauthorized("missing_token", "give a token in the header authorization: Bearer TOKEN")
        }
        let words = header.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", let token = tokens.find(String(words[1])) else {
            throw .unauthorized("invalid_token", "the token is not valid")
        }
        return token
    }

    private func answer(
        _ request: HTTPRequest, _ route: Route, _ token: AccessToken, _ values: [String: String], _ key: String?
    ) async -> HTTPResponse {
        let call = APIRequest(
            context: context, token: token, values: values, idempotencyKey: key,
            lastEventID: request.header("last-event-id"), http: request)
        let result = await CallLimit.$end.withValue(.now + Self.maxWait) { () async -> Result<Reply, Problem> in
            do { return .success(try await route.handler(call)) } catch { return .failure(Problem(of: error)) }
        }
        return response(to: result, request, route, token, values)
    }

    /// The response, after what was changed is in the log.
    private func response(
        to result: Result<Reply, Problem>, _ request: HTTPRequest, _ route: Route, _ token: AccessToken,
        _ values: [String: String]
    ) -> HTTPResponse {
        do throws(Problem) {
            let reply = try result.get()
            if route.isChange { record(request, route, token, values, reply.subjects, log) }
            var response = HTTPResponse(
                status: reply.status, contentType: reply.contentType, reply.body)
            response.headers = reply.headers
            return secured(response)
        } catch {
            if route.isChange, !error.done.isEmpty {
                let log = log.with("failed", error.detail)
                record(request, route, token, values, error.done.subjects, log)
                record(request, route, token, values, error.done.unanswered, log.with("outcome", "unknown"))
            }
            if error.status == 500 {
                log.error("a request failed", ["action": route.name, "error": error.reason ?? error.detail])
            }
            return secured(error.response(to: request.path))
        }
    }

    /// The lines of the log about an action that changed something; each names up to 40 ids.
    private func record(
        _ request: HTTPRequest, _ route: Route, _ token: AccessToken, _ values: [String: String], _ subjects: [String],
        _ log: Log
    ) {
        for start in stride(from: 0, to: subjects.count, by: 40) {
            log.info(
                "audit",
                [
                    "action": route.name, "token": token.name, "client": request.client.text,
                    "queue": values["queue"] ?? token.queue ?? context.queues[0].name.text,
                    "subjects": subjects[start..<min(start + 40, subjects.count)].joined(separator: " "),
                ])
        }
    }

    private func secured(_ response: HTTPResponse) -> HTTPResponse {
        let hasPolicy = response.headers.contains { $0.name == "Content-Security-Policy" }
        return
            (hasPolicy
            ? response : response.with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"))
            .with("Referrer-Policy", "no-referrer").with("Cross-Origin-Resource-Policy", "same-origin")
    }

    /// The key, with or without the quotes of a structured field.
    private static func idempotencyKey(_ request: HTTPRequest) throws(Problem) -> String? {
        guard let text = request.values("idempotency-key").first else { return nil }
        let isQuoted = text.utf8.count > 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let key = isQuoted ? String(text.dropFirst().dropLast()) : text
        let isPlain = key.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
        guard request.values("idempotency-key").count == 1, (1...128).contains(key.utf8.count), isPlain else {
            throw Problem(400, "invalid_header", "idempotency-key must have 1 to 128 printable ASCII characters")
        }
        return key
    }
}

extension Problem {
    /// The refusal of a wrong token after many others.
    fileprivate static var guessing: Problem {
        var problem = Problem(
            429, "too_many_wrong_tokens",
            "more than \(FailureCount.allowed) wrong tokens came from this address: give a valid one")
        problem.headers = [("Retry-After", "1")]
        return problem
    }

    fileprivate static func unauthorized(_ code: String, _ detail: String) -> Problem {
        var problem = Problem(401, code, detail)
        problem.headers = [("WWW-Authenticate", "Bearer")]
        return problem
    }
}
