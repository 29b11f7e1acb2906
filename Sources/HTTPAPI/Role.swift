/// What a token allows; each role includes those before it.
package enum Role: String, Sendable, CaseIterable, Comparable {
    /// Reads jobs, events and the state of queues.
    case read
    /// Pushes jobs too.
    case push
    /// Changes jobs and queues too.
    case operate

    package static func < (left: Role, right: Role) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}
