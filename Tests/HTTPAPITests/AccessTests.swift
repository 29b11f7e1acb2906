import HTTPAPI
import JobSchema
import Jobs
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct AccessTests {
    private static let tokens =
        APIFixture.token("viewer", "read") + APIFixture.token("pusher", "push") + APIFixture.token("boss", "operate")
        + APIFixture.token("tenant", "operate", "group=t1-") + APIFixture.token("single", "operate", "queue=other")

    @Test func `each role does what it may, and no more`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            let id = try #require(try await api.send("POST /v1/jobs", APIFixture.job, token: "pusher").text("id"))
            let cases: [(line: String, body: String?, token: String?, status: Int)] = [
                ("GET /v1/jobs/\(id)", nil, nil, 401), ("GET /v1/nothing", nil, nil, 401),
                ("GET /v1/jobs/\(id)", nil, "nobody", 401), ("GET /v1/jobs/\(id)", nil, "viewer", 200),
                ("POST /v1/jobs", APIFixture.job, "viewer", 403), ("POST /v1/jobs/\(id)/cancel", nil, "pusher", 403),
                ("POST /v1/queues/default/pause", nil, "pusher", 403), ("POST /v1/jobs/\(id)/cancel", nil, "boss", 200),
                ("GET /v1/openapi.json", nil, nil, 200), ("GET /healthz", nil, nil, 200),
            ]
            let answers = try await api.sendAll(cases.map { ($0.line, $0.body, $0.token, []) })
            for (one, answer) in zip(cases, answers) { #expect(answer.status == one.status, "\(one) \(answer)") }
            #expect(answers[0].head.contains("\r\nWWW-Authenticate: Bearer"))
        }
    }

    @Test func `a token for groups sees and changes only their jobs`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            let foreign = try #require(try await api.send("POST /v1/jobs", APIFixture.job, token: "boss").text("id"))
            let own = #"{"source": "https://a.example/b", "format": "mp3", "group": "t1-x"}"#
            let id = try #require(try await api.send("POST /v1/jobs", own, token: "tenant").text("id"))
            let cases: [(line: String, body: String?, status: Int)] = [
                ("GET /v1/jobs/\(id)", nil, 200), ("GET /v1/jobs/\(foreign)", nil, 404),
                ("GET /v1/jobs/\(foreign)/log", nil, 404), ("POST /v1/jobs/\(foreign)/cancel", nil, 404),
                ("DELETE /v1/jobs/\(foreign)", nil, 404), ("POST /v1/jobs/\(foreign)/retry", "{}", 404),
                ("POST /v1/jobs", APIFixture.job, 403), ("GET /v1/jobs", nil, 403),
                ("GET /v1/jobs?group=t1-x", nil, 200), ("GET /v1/jobs?group=t2", nil, 403),
                ("GET /v1/groups/t1-x", nil, 200), ("GET /v1/groups/t2", nil, 404), ("GET /v1/queues", nil, 403),
                ("GET /v1/queues/default", nil, 403), ("GET /v1/callbacks", nil, 403), ("GET /v1/workers", nil, 403),
                ("GET /v1/schedules", nil, 403), ("GET /v1/limits", nil, 403), ("GET /v1/counts", nil, 403),
                ("GET /v1/schedules/a", nil, 403), ("GET /v1/schedules/a/fields", nil, 403),
                ("DELETE /v1/schedules/a", nil, 403), ("POST /v1/schedules/a/run", nil, 403),
                ("POST /v1/schedules/a/pause", nil, 403), ("PUT /v1/limits/a", "{}", 403),
                ("DELETE /v1/limits/a", nil, 403), ("POST /v1/callbacks/1-1/retry", nil, 403),
                ("POST /v1/queues/default/pause", nil, 403), ("DELETE /v1/jobs/\(id)", nil, 200),
            ]
            let answers = try await api.sendAll(cases.map { ($0.line, $0.body, "tenant", []) })
            for (one, answer) in zip(cases, answers) { #expect(answer.status == one.status, "\(one) \(answer)") }
        }
    }

    @Test func `a token for groups has dedup keys and limits of its own`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            func job(_ group: String, _ name: String, _ value: String) -> String {
                #"{"source": "https://a.example/b", "format": "mp3", "group": "\#(group)", "\#(name)": "\#(value)"}"#
            }
            func push(_ body: String, _ token: String) async throws -> APIFixture.Answer {
                try await api.send("POST /v1/jobs", body, token: token)
            }
            let foreign = try #require(try await push(job("t2-a", "dedup", "t1-x"), "boss").text("id"))
            for name in ["dedup", "limit_key"] {
                let refused = try await push(job("t1-a", name, "shared"), "tenant")
                #expect(refused.status == 422 && refused.text("errors.0.pointer") == "/\(name)", "\(refused)")
            }
            let held = try await push(job("t1-a", "dedup", "t1-x"), "tenant")
            #expect(held.status == 409 && !held.body.contains(foreign), "\(held)")
            let own = try await push(job("t1-a", "dedup", "t1-y"), "tenant")
            let id = try #require(own.text("id"))
            #expect(try await push(job("t1-a", "dedup", "t1-y"), "tenant").text("id") == id)
            _ = try await api.send("POST /v1/jobs/\(id)/cancel", token: "tenant")
            let other = try #require(try await push(job("t2-a", "dedup", "t1-y"), "boss").text("id"))
            let retry = "POST /v1/jobs/\(id)/retry"
            let refused = try await api.send(retry, "{}", token: "tenant")
            #expect(refused.status == 409 && !refused.body.contains(other), "\(refused)")
            let limited = try await api.send(retry, #"{"set": {"limit_key": "shared"}}"#, token: "tenant")
            #expect(limited.status == 422 && limited.text("errors.0.pointer") == "/set/limit_key", "\(limited)")
        }
    }

    @Test func `a token for one queue does not reach another`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            let answers = try await api.sendAll(
                ["GET /v1/queues/default", "GET /v1/jobs?queue=default", "GET /v1/queues/other", "GET /v1/jobs"]
                    .map { ($0, nil, "single", []) })
            #expect(answers.map(\.status) == [403, 403, 200, 200], "\(answers)")
            let queues = try await api.send("GET /v1/queues", token: "single")
            #expect(queues.text("queues.0.queue") == "other" && queues["queues.1"] == nil, "\(queues)")
        }
    }

    @Test func `a client that guesses tokens is refused at once, and a valid token is taken`() async throws {
        try await APIFixture.run(tokens: Self.tokens) { api in
            let guesses = try await api.sendAll((0..<10).map { ("GET /v1/queues", nil, "guess\($0)", []) })
            #expect(guesses.allSatisfy { $0.status == 401 })
            for (line, body) in [("GET /v1/queues", nil), ("POST /v1/jobs", APIFixture.job)] {
                let answer = try await api.send(line, body, token: "wrong")
                #expect(answer.status == 429 && answer.text("code") == "too_many_wrong_tokens", "\(answer)")
                #expect(answer.head.contains("\r\nRetry-After: 1") && answer.head.contains("\r\nConnection: close"))
            }
            #expect(try await api.send("GET /v1/queues", token: "viewer").status == 200)
        }
    }

    /// A page of another origin, or a name that was rebound to this address.
    @Test(arguments: [
        (["Host: evil.example"], 403), (["Host: localhost", "Origin: http://evil.example"], 403),
        (["Host: localhost", "Origin: null"], 403), (["Host: localhost", "Sec-Fetch-Site: cross-site"], 403),
        (["Host: localhost", "Sec-Fetch-Site: same-site"], 403), (["Host: 127.0.0.1.evil.example"], 403),
        (["Host: localhost", "Origin: http://localhost", "Sec-Fetch-Site: same-origin"], 200),
        (["Host: api.example.org"], 200), (["Host: [::1]:80"], 200), (["Host: LOCALHOST:1"], 200),
    ])
    func `requests of other origins are refused`(headers: [String], status: Int) async throws {
        try await APIFixture.run { api in
            let answer = try await api.send("GET /v1/queues", headers: headers)
            #expect(answer.status == status, "\(answer)")
            #expect(!answer.head.contains("Access-Control-Allow-Origin"))
            #expect(answer.head.contains("\r\nContent-Security-Policy: default-src 'none'"))
            #expect(answer.head.contains("\r\nX-Content-Type-Options: nosniff"))
        }
    }

    /// As a server on a wildcard address is reached by each of its own.
    @Test func `the address of the connection names a server on all addresses`() async throws {
        try await APIFixture.run(tokens: Self.tokens, host: "0.0.0.0") { api in
            let texts = ["127.0.0.2:8080", "127.0.0.3"].map {
                "GET /v1/queues HTTP/1.1\r\nHost: \($0)\r\nAuthorization: Bearer viewer-secret\r\nConnection: close\r\n\r\n"
            }
            let answers = try await rawExchange(api.port, texts, host: "127.0.0.2")
            #expect(answers[0].hasPrefix("HTTP/1.1 200 ") && answers[1].hasPrefix("HTTP/1.1 403 "), "\(answers)")
        }
    }

    @Test func `behind a proxy, paths are below its path`() async throws {
        let proxy = try #require(ProxyPath(base: "/respool/", proxies: ["127.0.0.1"]))
        try await APIFixture.run(proxy: proxy) { api in
            let pushed = try await api.send("POST /respool/v1/jobs", APIFixture.job)
            let id = try #require(pushed.text("id"))
            #expect(pushed.head.contains("\r\nLocation: /respool/v1/jobs/\(id)"), "\(pushed)")
            let list = try await api.send("GET /respool/v1/jobs?limit=1")
            #expect(list.status == 200 && list.head.contains("Link: </respool/v1/jobs?"), "\(list)")
            for path in ["/v1/jobs", "/respool", "/respoolx/v1/jobs", "/x/respool/v1/jobs"] {
                #expect(try await api.send("GET \(path)").status == 404)
            }
            #expect(try await api.send("GET /healthz").status == 200)
        }
        #expect(ProxyPath(base: "respool") == nil && ProxyPath(proxies: ["proxy.example.org"]) == nil)
    }

    @Test func `clients behind a trusted proxy are told apart by the last address that is not its own`() async throws {
        let proxy = try #require(ProxyPath(proxies: ["127.0.0.1", "10.0.0.1"]))
        try await APIFixture.run(tokens: APIFixture.token("a", "read"), proxy: proxy) { api in
            // A client that guesses is refused, whatever it says about the addresses before its own.
            let guesses = (0..<10).map { number in
                (
                    line: "GET /v1/jobs", body: String?.none, token: String?("wrong"),
                    headers: ["X-Forwarded-For: 192.0.2.\(number), 198.51.100.7, 10.0.0.1"]
                )
            }
            _ = try await api.sendAll(guesses)
            #expect(try await api.sendAll([guesses[0]])[0].status == 429)
            let other = try await api.send("GET /v1/jobs", token: "a", headers: ["X-Forwarded-For: 192.0.2.1"])
            #expect(other.status == 200, "\(other)")
        }
    }

    @Test func `unknown paths, methods, parameters and types are refused`() async throws {
        try await APIFixture.run { api in
            let cases: [(line: String, body: String?, headers: [String], status: Int)] = [
                ("GET /v1/nothing", nil, [], 404), ("GET /v1/queues/", nil, [], 404),
                ("GET /v1/../v1/queues", nil, [], 404),
                ("GET /v1/queues/a%2Fb", nil, [], 404), ("GET /v1/queues/%00", nil, [], 404),
                ("GET /v1/queues/nothing", nil, [], 404), ("PUT /v1/jobs", nil, [], 405),
                ("TRACE /v1/jobs", nil, [], 405),
                ("OPTIONS /v1/queues", nil, [], 405), ("GET /v1/jobs?nope=1", nil, [], 400),
                ("GET /v1/jobs?limit=1&limit=2", nil, [], 400), ("GET /v1/jobs?limit=1e3", nil, [], 400),
                ("GET /v1/jobs?limit=-1", nil, [], 400), ("GET /v1/jobs?cursor=0", nil, [], 400),
                ("POST /v1/jobs", nil, ["Content-Type: text/plain", "Content-Length: 0"], 415),
                ("POST /v1/jobs", nil, ["Content-Type: application/json", "Content-Length: 99999999"], 413),
                ("HEAD /v1/queues", nil, [], 200),
            ]
            let answers = try await api.sendAll(cases.map { ($0.line, $0.body, nil, $0.headers) })
            for (one, answer) in zip(cases, answers) { #expect(answer.status == one.status, "\(one) \(answer)") }
            #expect(answers[6].head.contains("\r\nAllow: GET, POST, HEAD"))
        }
    }

    @Test func `health is answered while Redis is away, and other requests get status 503`() async throws {
        try await APIFixture.run { api in
            try await eventually("ready") { try await api.send("GET /readyz").status == 200 }
            await api.server.kill()
            let answers = try await api.sendAll(
                ["GET /healthz", "GET /v1/queues"].map { ($0, nil, nil, []) })
            #expect(answers.map(\.status) == [200, 503], "\(answers)")
            #expect(answers[1].head.contains("\r\nRetry-After: 1"))
            try await eventually("not ready") {
                try await api.send("GET /readyz").status == 503
            }
            try await api.server.restart()
            try await eventually("ready again") {
                try await api.send("GET /readyz").status == 200
            }
        }
    }

    @Test func `health is answered while requests that wait for Redis hold all connections of two addresses`()
        async throws
    {
        try await APIFixture.run { api in
            api.server.freeze()
            let request = rawRequest("GET /v1/queues/default HTTP/1.1")
            let held = ["127.0.0.2", "127.0.0.3"].map { address in
                Task {
                    try await rawExchange(
                        api.port, Array(repeating: request, count: 16), from: address, isTogether: true)
                }
            }
            func status(_ path: String) async throws -> String {
                let answers = try await rawExchange(api.port, [rawRequest("GET \(path) HTTP/1.1")], from: "127.0.0.4")
                return String(answers[0].dropFirst(9).prefix(3))
            }
            // No clock: while one of the 32 is not processed yet, this waits with them.
            try await eventually("all connections are held") {
                let answers = try await rawExchange(api.port, [request], seconds: 1, from: "127.0.0.4")
                return answers[0].contains("\"code\":\"overloaded\"")
            }
            #expect(try await status("/healthz") == "200")
            #expect(["200", "503"].contains(try await status("/readyz")))
            api.server.thaw()
            for task in held { _ = try await task.value }
        }
    }

    @Test(arguments: [
        "", "a read", "a admin \(String(repeating: "0", count: 64))", "a read 00",
        "a read \(String(repeating: "0", count: 64)) x=1",
        "a read \(String(repeating: "0", count: 64))\na push \(String(repeating: "1", count: 64))",
    ])
    func `a file of tokens with a wrong line is refused`(text: String) {
        #expect(throws: (any Error).self) { try AccessTokens(text, origin: "file") }
    }

    @Test func `every operation of the document is answered`() async throws {
        try await APIFixture.run { api in
            let document = try await api.send("GET /v1/openapi.json")
            guard case .object(let paths)? = document["paths"] else { return #expect(Bool(false), "\(document)") }
            try await eventually("ready") { try await api.send("GET /readyz").status == 200 }
            var requests: [String] = []
            for (path, operations) in paths {
                guard case .object(let operations) = operations else { continue }
                let filled = path.replacing("{queue}", with: "default").replacing("{id}", with: "1-0")
                    .replacing("{group}", with: "g").replacing("{n}", with: "0").replacing("{worker}", with: "host:1")
                    .replacing("{upload}", with: "up_\(String(repeating: "0", count: 32))")
                // Events have no end.
                guard path != "/v1/events" else { continue }
                requests += operations.keys.map { "\($0.uppercased()) \(filled)" }
            }
            #expect(requests.count >= 22)
            for answer in try await api.sendAll(requests.map { ($0, nil, nil, []) }) {
                #expect([200, 404, 415].contains(answer.status), "\(answer)")
            }
        }
    }
}
