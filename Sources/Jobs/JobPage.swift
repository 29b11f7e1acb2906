/// A part of a list of jobs; it may be shorter than requested.
package struct JobPage: Sendable {
    /// The jobs of the page, in the order of the list.
    package let jobs: [JobRecord]
    /// Where the next page begins; `nil` after the last one.
    package let next: JobCursor?
}

/// A position in a list of jobs.
package struct JobCursor: Sendable, Hashable {
    /// The indexes that are listed.
    let shelves: [Shelf]
    /// The last job that was listed of each index; `nil` at its start.
    var last: [Shelf: Position] = [:]

    /// An index that is listed.
    enum Shelf: Sendable, Hashable {
        case state(JobState)
        /// Waiting jobs whose `limit_key` has no free permit.
        case parked

        var name: String {
            switch self {
            case .state(let state): state.rawValue
            case .parked: "parked"
            }
        }

        var state: JobState {
            switch self {
            case .state(let state): state
            case .parked: .waiting
            }
        }
    }

    struct Position: Sendable, Hashable {
        let score: String
        let id: String
    }
}
