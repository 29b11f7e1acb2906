/// A part of a list of jobs; it may be shorter than asked.
package struct JobPage: Sendable {
    package let jobs: [JobRecord]
    /// Where the next page begins; nothing after the last one.
    package let next: JobCursor?
}

/// A place in a list of jobs.
package struct JobCursor: Sendable, Hashable {
    let state: JobState
    /// Nothing at the start of the state's list.
    let last: Position?

    struct Position: Sendable, Hashable {
        let score: String
        let id: String
    }
}
