import FoundationEssentials
package import JobSchema
import Lifecycle

extension Callback {
    /// The maximum size of a body in bytes.
    package static let longestBody = 64 << 10

    /// The body of the POST: JSON with `type`, `timestamp`, `queue`, and as `data` what `respool status --json` shows.
    package func body(queue: QueueName) throws(Failure) -> [UInt8] {
        switch content {
        case .job(var record):
            for shorten in Self.shortenings {
                let body = try encoded(record, queue)
                if body.count <= Self.longestBody { return body }
                shorten(&record)
            }
            return try encoded(record, queue)
        case .group(let group): return try encoded(GroupReport(group, GroupSpeed(group)), queue)
        case .unknown: return try encoded(subject.names, queue)
        }
    }

    /// Steps that shorten a record that is too large, applied one after the other.
    private static let shortenings: [@Sendable (inout JobRecord) -> Void] = [
        { record in
            for index in (record.outputs ?? []).indices {
                record.outputs![index].titles = nil
                record.outputs![index].parts?.files = []
            }
        },
        { record in
            for index in (record.outputs ?? []).indices {
                record.outputs![index].warnings = []
                record.outputs![index].settings = [:]
            }
        },
        { record in record.outputs = nil },
    ]

    private struct Body<Payload: Encodable>: Encodable {
        let type: String
        let timestamp: String
        let queue: String
        let data: Payload
    }

    private func encoded<Payload: Encodable>(_ payload: Payload, _ queue: QueueName) throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = Body(
            type: what, timestamp: WallClock.timestamp(milliseconds: at), queue: queue.text, data: payload)
        do { return Array(try encoder.encode(body)) } catch {
            throw Failure(.internal, "the callback's body cannot be encoded as JSON: \(error)")
        }
    }
}

extension Callback.Subject {
    /// The id or the name, if the content can no longer be read.
    fileprivate var names: [String: String] {
        switch self {
        case .job(let id): ["id": id]
        case .group(let name): ["group": name]
        }
    }
}
