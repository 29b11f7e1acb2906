/// A part of a list of jobs; it may be shorter than asked.
package struct JobPage: Sendable {
    package let jobs: [JobRecord]
    /// Where the next page begins; nothing after the last one.
    package let next: JobCursor?
}

/// A place in a list of jobs.
package struct JobCursor: Sendable, Hashable {
    /// The states whose jobs are being listed.
    let states: [JobState]
    /// The last job that was listed of each; nothing at the start of its list.
    var last: [JobState: Position] = [:]

    struct Position: Sendable, Hashable {
        let score: String
        let id: String
    }
}
