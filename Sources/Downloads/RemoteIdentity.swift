import JobSchema
import LocalFiles
import Requests

/// Detects whether two responses of a server describe the same bytes.
struct RemoteIdentity {
    /// Length of the whole source in bytes, if known.
    var length: Int64?
    private let tag: String?
    private let date: String?
    /// Whether the server may support ranges: nothing it has sent so far rules them out.
    var mayKnowRanges: Bool
    /// Whether responses share one connection (HTTP/2).
    let sharesConnection: Bool

    /// The identity in the first response, which is a complete one.
    init(_ head: HTTPHead) {
        length = head.contentLength
        tag = head.strongTag
        date = head.strongDate
        mayKnowRanges = head["accept-ranges"]?.lowercased() != "none"
        sharesConnection = head.isVersion2
    }

    /// The identity of a source that is already available.
    init(length: Int64, tag: String) {
        self.length = length
        self.tag = tag
        date = nil
        mayKnowRanges = false
        sharesConnection = false
    }

    /// The validator for `If-Range`. Without one, a part could belong to different bytes, so no part is requested.
    var condition: String? { tag ?? date }

    /// Whether parts can be requested.
    var canResume: Bool { mayKnowRanges && condition != nil }

    /// The kind of a response to a request for a part.
    enum Answer: Equatable {
        /// The part from the requested offset to `end`.
        case part(end: Int64, total: Int64?)
        /// The whole source from its start: the server does not support ranges.
        case whole
    }

    /// Compares a response with the request. A part of different bytes, or a different part, is a failure.
    func check(_ head: HTTPHead, from offset: Int64, url: String) throws(Failure) -> Answer {
        switch head.status {
        case 200:
            guard isSame(head), head.contentLength == length else { throw changed(url) }
            return .whole
        case 206: break
        case 416: throw changed(url)
        default: throw .status(head, url)
        }
        guard let part = head.contentRange, part.bytes.lowerBound == offset,
            head.contentLength.map({ $0 == Int64(part.bytes.count) }) ?? true
        else {
            throw Failure(
                .sourceUnreachable,
                "the request for the bytes from \(offset) of '\(redactedURL(url))' was answered with '\(head["content-range"]?.prefix(80) ?? "no range")', "
                    + "\(head["content-length"] ?? "no") bytes")
        }
        guard isSame(head), length == nil || part.total == nil || part.total == length,
            part.bytes.upperBound <= length ?? Int64.max
        else { throw changed(url) }
        return .part(end: part.bytes.upperBound, total: part.total)
    }

    private func isSame(_ head: HTTPHead) -> Bool {
        if let tag, let other = head["etag"], other != tag { return false }
        if let date, let other = head["last-modified"], other != date { return false }
        return true
    }

    private func changed(_ url: String) -> Failure {
        Failure(.sourceChanged, "the source '\(redactedURL(url))' changed while it was being read")
    }
}
