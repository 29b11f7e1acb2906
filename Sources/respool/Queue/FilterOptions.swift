import JobSchema
import Jobs

/// The options that select jobs by what they have in common; those of the HTTP API have the same names.
enum FilterOptions {
    /// All options; a command that handles some states only names them.
    static func all(states: [JobState]) -> [Option] {
        [state(states), .group, code, limitKey, worker, source, text, age]
    }

    static func state(_ states: [JobState]) -> Option {
        let words = states.map(\.rawValue)
        return Option(
            "state", letter: "s", value: "STATE", "only this state: \(words.joined(separator: ", "))",
            suggestion: .words(words))
    }

    static let code = Option(
        "code", aliases: ["failed-with"], value: "CODE",
        "only jobs whose last attempt failed with this code: timeout, source_unreachable…",
        suggestion: .words(ErrorCode.allCases.map(\.rawValue)))
    static let limitKey = Option("limit-key", value: "KEY", "only jobs with this limit_key")
    static let worker = Option("worker", letter: "w", value: "HOST:PID", "only jobs that this worker ran last")
    static let source = Option("source", value: "URL", "only jobs whose source begins with this text")
    static let text = Option(
        "query", letter: "q", value: "TEXT", "only jobs whose id or source contains this text; secrets are not searched"
    )
    static let age = Option("older-than", value: "SECONDS", "only jobs that were pushed at least this long ago")

    /// The filter that the options give.
    static func filter(_ arguments: Arguments, states: [JobState]) throws(CommandFailure) -> JobFilter {
        var filter = JobFilter()
        filter.state = try arguments.word(state(states), of: states.map(\.rawValue)).flatMap(JobState.init)
        filter.group = try arguments.group()
        filter.code = try arguments.word(code, of: ErrorCode.allCases.map(\.rawValue)).flatMap(ErrorCode.init)
        filter.limitKey = arguments.value(limitKey)
        filter.worker = arguments.value(worker)
        filter.source = arguments.value(source)
        filter.text = arguments.value(text)
        filter.age = try arguments.whole(age, in: 0...31_536_000)
        for option in [limitKey, worker, source, text] where arguments.value(option)?.isEmpty == true {
            throw .usage("--\(option.name) is empty: give \(option.placeholder ?? "a value"), or leave it out")
        }
        return filter
    }
}

extension Option {
    static let group = Option("group", letter: "g", value: "NAME", "the jobs of this group")
}

extension Arguments {
    /// The validated name of the group from the option.
    func group() throws(CommandFailure) -> String? {
        guard let name = value(.group) else { return nil }
        guard KeyName.isValid(name) else {
            throw .usage("--group is '\(name)': it must be 1 to 64 of A-Z a-z 0-9 _ . -")
        }
        return name
    }
}
