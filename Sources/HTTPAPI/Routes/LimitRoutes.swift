import JobSchema
import Jobs

extension Route {
    /// The routes that change limits, as `respool limit` does: of one key, and those of all keys without a limit.
    static let limits: [Route] = [
        Route(
            method: "PUT", path: "/v1/limits/{key}", name: "putLimit",
            summary: "Sets how many jobs of a `limit_key` run at once, or start in a minute; null removes it.",
            role: .operate, pathParameters: [key], query: [.queue], body: change, maxBodyBytes: 4 << 10,
            responses: [(200, "the limit", Schema.named("Limit"))]
        ) { request in
            try await set(request, try changes(request))
        },
        Route(
            method: "DELETE", path: "/v1/limits/{key}", name: "deleteLimit",
            summary: "Removes the limit and the rate of a `limit_key`; the defaults then apply to it.", role: .operate,
            pathParameters: [key], query: [.queue], responses: [(200, "the limit", Schema.named("Limit"))]
        ) { request in
            try await set(request, (.some(nil), .some(nil)))
        },
        Route(
            method: "PUT", path: "/v1/limits", name: "putDefaultLimit",
            summary: "Sets the limit or the rate of keys that have none; null removes it.", role: .operate,
            query: [.queue], body: change, maxBodyBytes: 4 << 10,
            responses: [(200, "the defaults", Schema.named("Limit"))]
        ) { request in
            try await set(request, try changes(request))
        },
    ]

    private static let key = Parameter("key", .limitKey, "the `limit_key` of the jobs")

    private static let change: JSONValue = [
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": [
            "limit": limit(0, "how many jobs run at once; 0 starts none, null: any number"),
            "rate": limit(1, "how many jobs start in a minute; null: any number"),
        ],
    ]

    private static func limit(_ least: Int64, _ description: String) -> JSONValue {
        [
            "type": ["integer", "null"], "minimum": .integer(least), "maximum": .integer(Int64(KeyLimits.most)),
            "description": .string(description),
        ]
    }

    /// The changed numbers: `nil` leaves one as it is, and `.some(nil)` removes it.
    private static func changes(_ request: APIRequest) throws(Problem) -> (limit: Int??, rate: Int??) {
        // A token that may not change limits learns that first.
        _ = try request.wholeQueue()
        guard case .object(let members) = try request.json(), !members.isEmpty,
            members.keys.allSatisfy({ ["limit", "rate"].contains($0) })
        else { throw Problem.wrong([wrong("", "the body must have `limit` or `rate`, and nothing else")]) }
        return (try number(members, "limit", from: 0), try number(members, "rate", from: 1))
    }

    private static func number(
        _ members: [String: JSONValue], _ name: String, from least: Int
    ) throws(Problem) -> Int?? {
        switch members[name] {
        case nil: return nil
        case .null: return .some(nil)
        case .integer(let number) where (Int64(least)...Int64(KeyLimits.most)).contains(number):
            return .some(Int(number))
        default:
            throw Problem.wrong([
                wrong("/\(name)", "`\(name)` must be a whole number from \(least) to \(KeyLimits.most), or null")
            ])
        }
    }

    private static func wrong(_ pointer: String, _ message: String) -> Problem.Part {
        .init(pointer: pointer, code: "invalid_request", message: message)
    }

    private static func set(_ request: APIRequest, _ changes: (limit: Int??, rate: Int??)) async throws
        -> Reply
    {
        let (queue, key) = (try request.wholeQueue(), request.values["key"])
        let subjects = [key ?? "*"]
        if let number = changes.limit {
            try await queue.setLimit(number, key: key)
        }
        return try await request.after(changing: changes.limit == nil ? [] : subjects) {
            if let number = changes.rate {
                try await queue.setRate(number, key: key)
            }
            return try await request.after(changing: changes.limit == nil ? subjects : []) {
                let limits = try await queue.limits(key.map { [$0] } ?? [])
                let own = limits.keys.first { $0.name == key }
                return Reply(LimitReport(limits, own), subjects: subjects)
            }
        }
    }
}
