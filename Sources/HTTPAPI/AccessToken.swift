/// Who sends a request, and what it may do.
package struct AccessToken: Sendable, Hashable {
    /// The name in logs.
    package let name: String
    /// What the token allows.
    package let role: Role
    /// The only queue that the token is for; `nil` for all.
    package let queue: String?
    /// The beginning of the names of the groups that the token is for; `nil` for all jobs.
    package let groupPrefix: String?

    /// Everybody on this machine, if no tokens are set.
    package static let local = AccessToken(name: "local", role: .operate, queue: nil, groupPrefix: nil)

    /// Whether the token is for a group, or for jobs without one.
    func allows(group: String?) -> Bool {
        guard let groupPrefix else { return true }
        return group?.hasPrefix(groupPrefix) ?? false
    }
}
