import JobSchema

/// What tells that two answers of a server are about the same bytes.
struct RemoteIdentity {
    /// Bytes of the whole source, if known.
    var length: Int64?
    private let tag: String?
    private let date: String?
    /// Whether the server may know ranges; it has not said or shown that it does not.
    var mayKnowRanges: Bool
    /// Whether its answers may come over one connection at the same time.
    let sharesConnection: Bool

    /// What the first answer, a whole one, says.
    init(_ head: HTTPHead) {
        length = head.contentLength
        tag = head.strongTag
        date = head.strongDate
        mayKnowRanges = head["accept-ranges"]?.lowercased() != "none"
        sharesConnection = head.isVersion2
    }

    /// What is known of a source that is there already.
    init(length: Int64, tag: String) {
        self.length = length
        self.tag = tag
        date = nil
        mayKnowRanges = false
        sharesConnection = false
    }

    /// The condition under which a part may be sent; without one, a part might be of other bytes, so none is asked for.
    var condition: String? { tag ?? date }

    /// Whether parts can be asked for.
    var canResume: Bool { mayKnowRanges && condition != nil }

    /// What the answer to a request for a part is.
    enum Answer: Equatable {
        /// It goes from the offset asked for up to this one.
        case part(end: Int64, total: Int64?)
        /// It is the whole source from its start: the server knows no ranges.
        case whole
    }

    /// Holds an answer against what was asked for; a part of something else, or another part, is a failure.
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
                "the server of '\(redactedURL(url))' was asked for the bytes from \(offset) on and answered "
                    + "'\(head["content-range"]?.prefix(80) ?? "no range")', \(head["content-length"] ?? "no") bytes")
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
        Failure(.sourceChanged, "the source '\(redactedURL(url))' changed while it was read")
    }
}
