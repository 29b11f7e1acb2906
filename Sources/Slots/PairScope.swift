/// Which jobs share a pair of children (`RESPOOL_PAIR_PER`).
package enum PairScope: String, CaseIterable, Sendable {
    /// Jobs with the same `limit_key`.
    case limitKey = "limit_key"
    /// Jobs of the same group.
    case group

    /// The tenant of a job with the fields; jobs without the field have a common one.
    package func tenant(_ fields: [String: String]) -> String { fields[rawValue] ?? "" }
}

extension PairSession {
    /// The tenant of a job with the fields; `nil` if all jobs share children.
    package nonisolated func tenant(of fields: [String: String]) -> String? {
        configuration.pairScope?.tenant(fields)
    }
}
