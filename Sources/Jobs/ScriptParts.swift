import Redis

/// The parts of a script's answer, decoded in the order that its header describes.
struct ScriptParts {
    private let script: String
    private var rest: ArraySlice<RedisValue>

    init(_ script: String, _ parts: [RedisValue]) {
        self.script = script
        rest = parts[...]
    }

    var isEmpty: Bool { rest.isEmpty }

    mutating func next() throws(QueueError) -> ScriptAnswer {
        guard let part = rest.popFirst() else { throw .unexpectedAnswer(script: script, "too few parts") }
        return ScriptAnswer(script: script, value: part)
    }

    mutating func text() throws(QueueError) -> String { try next().text() }

    mutating func bytes() throws(QueueError) -> [UInt8] { try next().bytes() }

    mutating func integer() throws(QueueError) -> Int { try next().integer() }

    mutating func isTrue() throws(QueueError) -> Bool { try integer() == 1 }
}
