/// Whose jobs share a pair of children (`RESPOOL_PAIR_PER`).
package enum PairScope: String, CaseIterable, Sendable {
    /// Those with the same `limit_key`.
    case limitKey = "limit_key"
    /// Those of the same group.
    case group

    /// Who a job with the fields belongs to; jobs without the field belong together.
    package func tenant(_ fields: [String: String]) -> String { fields[rawValue] ?? "" }
}

extension Slot {
    /// Who a job with the fields belongs to, where that decides which jobs share children.
    package nonisolated func tenant(of fields: [String: String]) -> String? {
        configuration.pairScope?.tenant(fields)
    }
}
