import Redis

/// A script's answer, decoded as the script's header describes.
struct ScriptAnswer {
    let script: String
    let value: RedisValue

    func text() throws(QueueError) -> String {
        guard let text = value.string else { throw unexpected }
        return text
    }

    func bytes() throws(QueueError) -> [UInt8] {
        guard let bytes = value.bytes else { throw unexpected }
        return bytes
    }

    func integer() throws(QueueError) -> Int {
        guard let integer = value.integer else { throw unexpected }
        return Int(integer)
    }

    func array(count: Int? = nil) throws(QueueError) -> [ScriptAnswer] {
        try values(count: count).map { ScriptAnswer(script: script, value: $0) }
    }

    /// The parts of an array, for decoding one after the other.
    func parts() throws(QueueError) -> ScriptParts { ScriptParts(script, try values()) }

    private func values(count: Int? = nil) throws(QueueError) -> [RedisValue] {
        guard let array = value.array, count == nil || array.count == count else { throw unexpected }
        return array
    }

    var unexpected: QueueError { .unexpectedAnswer(script: script, "\(value)") }
}
