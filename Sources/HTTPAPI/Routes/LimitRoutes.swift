import JobSchema
import Jobs

extension Route {
    /// The routes that change limits, as `respool limit` does: of one key, and those of all keys without a limit.
    static let limits: [Route] = [
        Route(
            method: "PUT", path: "/v1/limits/{key}", name: "putLimit",
            summary: "Sets how many jobs of a `limit_key` run at once, or start in a minute; null removes it.",
            role: .operate, pathParameters: [key], query: [.queue], body: LimitChange.self, maxBodyBytes: 4 << 10,
            isOfWholeQueue: true,
            responses: [(200, "the limit", Schema.named("Limit"))]
        ) { request, change in
            try await set(request, change.limit, change.rate)
        },
        Route(
            method: "DELETE", path: "/v1/limits/{key}", name: "deleteLimit",
            summary: "Removes the limit and the rate of a `limit_key`; the defaults then apply to it.", role: .operate,
            pathParameters: [key], query: [.queue], responses: [(200, "the limit", Schema.named("Limit"))]
        ) { request in
            try await set(request, .some(nil), .some(nil))
        },
        Route(
            method: "PUT", path: "/v1/limits", name: "putDefaultLimit",
            summary: "Sets the limit or the rate of keys that have none; null removes it.", role: .operate,
            query: [.queue], body: LimitChange.self, maxBodyBytes: 4 << 10, isOfWholeQueue: true,
            responses: [(200, "the defaults", Schema.named("Limit"))]
        ) { request, change in
            try await set(request, change.limit, change.rate)
        },
    ]

    private static let key = Parameter("key", .limitKey, "the `limit_key` of the jobs")

    private static func set(_ request: APIRequest, _ limit: Int??, _ rate: Int??) async throws -> Reply {
        let (queue, key) = (try request.wholeQueue(), request.values["key"])
        let subjects = [key ?? "*"]
        if let number = limit {
            try await queue.setLimit(number, key: key)
        }
        return try await request.after(changing: limit == nil ? [] : subjects) {
            if let number = rate {
                try await queue.setRate(number, key: key)
            }
            return try await request.after(changing: limit == nil ? subjects : []) {
                let limits = try await queue.limits(key.map { [$0] } ?? [])
                let own = limits.keys.first { $0.name == key }
                return Reply(LimitReport(limits, own), subjects: subjects)
            }
        }
    }
}

/// The changed numbers: `nil` leaves one as it is, and `.some(nil)` removes it.
private struct LimitChange: RequestBody {
    let limit: Int??
    let rate: Int??

    static let schema: JSONValue = [
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": [
            "limit": number(0, "how many jobs run at once; 0 starts none, null: any number"),
            "rate": number(1, "how many jobs start in a minute; null: any number"),
        ],
    ]

    init(_ members: [String: JSONValue]) {
        (limit, rate) = (Self.number(members["limit"]), Self.number(members["rate"]))
    }

    private static func number(_ value: JSONValue?) -> Int?? {
        value.map { if case .integer(let number) = $0 { Int(number) } else { nil } }
    }

    private static func number(_ least: Int64, _ description: String) -> JSONValue {
        [
            "type": ["integer", "null"], "minimum": .integer(least), "maximum": .integer(Int64(KeyLimits.most)),
            "description": .string(description),
        ]
    }
}
