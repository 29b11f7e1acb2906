/// A part of a list of jobs; it may be shorter than asked.
package struct JobPage: Sendable {
    package let jobs: [JobRecord]
    /// Where the next page begins; nothing after the last one.
    package let next: JobCursor?
}

/// A place in a list of jobs.
package struct JobCursor: Sendable, Hashable {
    /// What is being listed.
    let shelves: [Shelf]
    /// The last job that was listed of each; nothing at the start of its list.
    var last: [Shelf: Position] = [:]

    /// An index that is listed.
    enum Shelf: Sendable, Hashable {
        case state(JobState)
        /// Waiting jobs whose `limit_key` has no place.
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
