import Glibc
package import JobSchema
package import Lifecycle
import LocalFiles
package import MediaTypes
package import Requests
import SlotIPC

/// A source on a server, stored in a spool that is filled from its start and from the reader's position.
///
/// At most two requests run: the one that the reader waits for, and an earlier one that is paused until the reader returns to
/// it or nothing else is missing. A request ends when it reaches bytes that are already in the spool.
package final class RemoteSource: RemoteRequest.Owner {
    /// The reason why no further bytes will arrive.
    package private(set) var failure: Failure?

    /// The state of a source without an end.
    private var stream: EndlessStream?
    /// Whether the server has ended an endless stream.
    package private(set) var isFinished = false
    private let location: SourceLocation
    private let access: WebAccess
    private var url: String { location.text }
    /// The URL after redirects, against which relative references in the source are resolved.
    package private(set) var finalURL: String
    /// Maximum length of the source in bytes.
    private let maxBytes: Int64
    private let client: HTTPClient
    private var spool: Spool
    private var identity: RemoteIdentity?
    private var cache: CacheUse?
    /// Held while a request runs.
    private var permit: HostPermit
    /// Whether the source waits for its permit, or for another job that fetches the same source.
    package private(set) var isWaiting = false
    /// The last one is the one that the reader waits for.
    private var requests: [RemoteRequest] = []
    private var wanted: Int64 = 0
    /// Broken requests since a transfer last made progress.
    private var breaks = 0
    /// Bytes received since the last broken request.
    private var progressBytes: Int64 = 0
    private var lastBreak: Failure?
    /// Whether the server seems to accept only one request at a time.
    private var isAlone = false
    private var retryAt: ContinuousClock.Instant?
    private static let backoff = Backoff(base: .milliseconds(200), cap: .seconds(10))
    /// A gap of at most so many bytes is read through rather than skipped by another request.
    private static let near = LinkRequest.keptBehind
    /// Bytes of progress that reset `breaks`. A lower value would allow endless retries with little progress each.
    private static let minProgressBytes: Int64 = 256 << 10
    /// Longest `Retry-After` in seconds that is waited for here. For a longer one, the job fails and is retried.
    private static let maxRetryDelay = 30.0

    /// Requests the source and reports the result later. Looks it up in the cache first, if there is one, and stores it there.
    package init(
        _ location: SourceLocation, _ access: WebAccess, client: HTTPClient, maxBytes: Int64? = nil,
        cache: SourceCache? = nil
    ) throws(Failure) {
        self.location = location
        self.access = access
        finalURL = location.text
        self.maxBytes = min(maxBytes ?? .max, client.policy.maxSourceBytes)
        self.client = client
        let target = try client.target(of: location, access)
        permit = HostPermit(at: target.url, policy: client.policy)
        if let cache { self.cache = CacheUse(cache, of: target) }
        // An unnamed file can only be linked within its own file system.
        spool = try Spool.create(in: cache?.folder ?? client.policy.spoolFolder)
        try start(at: nil)
    }

    deinit { cancelRequests() }

    /// Length of the whole source in bytes, once it is known; for a source being cached, once it is complete.
    package var length: Int64? { cache?.isFetching == true ? nil : identity?.length }

    /// Whether the source is a stream without an end.
    package var isEndless: Bool { stream != nil }

    /// The number of contiguous bytes that are available from the offset on.
    package func run(from offset: Int64) -> Int64 { spool.present.firstGap(from: offset) - offset }

    /// A read-only descriptor of the spool.
    package func reader() throws(Failure) -> Descriptor { try spool.reader() }

    /// Sets the reader's position, from which the source is fetched next.
    package func need(_ offset: Int64) {
        wanted = offset
        if isEndless { return follow() }
        arrange()
    }

    /// The latest time at which `tick` must be called.
    package var nextDeadline: ContinuousClock.Instant? {
        (requests.compactMap { $0.deadline(client.policy) } + [retryAt].compactMap(\.self)).min()
    }

    /// Ends requests that have timed out, and retries when a retry is due.
    package func tick(_ now: ContinuousClock.Instant) {
        for request in requests {
            guard let deadline = request.deadline(client.policy), deadline <= now else { continue }
            client.remove(request)
            ended(request, .broken(request.lateness(client.policy)))
        }
        if let time = retryAt, time <= now {
            retryAt = nil
            guard identity == nil else { return arrange() }
            do { try start(at: nil) } catch { fail(error) }
        }
    }

    /// The titles that were received since the last call.
    package func takeTitles() -> [StreamTitle] { stream?.takeTitles() ?? [] }

    /// Limits the spool of an endless stream: frees the bytes behind the reader, and pauses the request if it is too far ahead.
    private func follow() {
        stream?.discard(before: wanted, of: spool)
        guard let request = requests.last else { return }
        request.pause(request.position - wanted > EndlessStream.maxAhead)
    }

    // MARK: What requests bring

    package func received(_ head: HTTPHead, by request: RemoteRequest) throws(Failure) -> Bool {
        if [200, 206].contains(head.status), let encoding = head["content-encoding"],
            encoding.lowercased() != "identity"
        {
            throw .encoded(encoding, url)
        }
        guard var known = identity else {
            try begin(with: head, of: request)
            return true
        }
        defer { identity = known }
        switch try known.check(head, from: request.position, url: url) {
        case .part(let end, let total):
            try checkSize(total)
            known.length = total ?? known.length
            // A part of a source of unknown length has no reliable end.
            guard known.length != nil else { throw .status(head, url) }
            request.end = end
            return true
        case .whole where request.position == 0:
            request.end = known.length
            return true
        case .whole:
            known.mayKnowRanges = false
            return false
        }
    }

    /// Takes in the first response: the source itself, or confirmation (304) that the cached copy is valid.
    private func begin(with head: HTTPHead, of request: RemoteRequest) throws(Failure) {
        let reached = request.effectiveURL
        if case .web = location, !reached.isEmpty { finalURL = reached }
        if head.status == 304, let kept = cache?.takeFound() {
            try checkSize(kept.spool.length)
            identity = RemoteIdentity(length: kept.spool.length, tag: kept.tag)
            spool = kept.spool
            return
        }
        guard head.status == 200 else { throw .status(head, url) }
        try checkSize(head.contentLength)
        try cache?.take(head)
        identity = RemoteIdentity(head)
        request.end = head.contentLength
        stream = EndlessStream(head)
    }

    package func received(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) -> Bool {
        if isEndless {
            try receiveStream(bytes, by: request)
            return true
        }
        let count = Int64(bytes.count)
        if let end = request.end, request.position + count > end {
            throw .overlong(url)
        }
        try checkSize(request.position + count)
        guard run(from: request.position) == 0 else { return false }
        let present = spool.present.nextStart(after: request.position) ?? .max
        let usable = min(count, present - request.position)
        try spool.write(UnsafeRawBufferPointer(rebasing: bytes[..<Int(usable)]), at: request.position)
        request.position += usable
        progressBytes += usable
        return request.position == request.end || usable == count && request.position < present
    }

    private func receiveStream(_ bytes: UnsafeRawBufferPointer, by request: RemoteRequest) throws(Failure) {
        try checkSize(request.position + Int64(bytes.count))
        for run in stream?.audio(in: bytes, at: request.position) ?? [] {
            try spool.write(UnsafeRawBufferPointer(rebasing: bytes[run]), at: request.position)
            request.position += Int64(run.count)
        }
        follow()
    }

    package func ended(_ request: RemoteRequest, _ end: RemoteRequest.End) {
        defer { if requests.isEmpty { permit.release() } }
        if isEndless {
            requests = []
            // A live stream cannot be resumed, so it has ended once its connection breaks.
            switch end {
            case .failed(let failure): self.failure = failure
            case .broken(let failure) where request.position == 0: self.failure = failure
            default: isFinished = true
            }
            return
        }
        let isActive = requests.last === request
        requests.removeAll { $0 === request }
        switch end {
        case .complete where request.redirection != nil:
            do { try follow(request, isActive) } catch { fail(error) }
        case .complete where !request.isSatisfied && request.position < request.end ?? 0:
            broke(.cutShort(url), isActive)
        case .complete:
            if identity?.length == nil { identity?.length = request.position }
            arrange()
        case .failed(let failure) where identity != nil && Failure.isPassing(request.status): broke(failure, isActive)
        case .failed(let failure): fail(failure)
        case .broken(let failure): broke(failure, isActive)
        }
    }

    // MARK: Which requests run

    private func start(at offset: Int64?) throws(Failure) {
        guard try isTurn(at: offset) else {
            isWaiting = true
            // The random delay keeps waiting jobs from retrying simultaneously.
            retryAt = .now + .milliseconds(Int.random(in: 50...150))
            return
        }
        isWaiting = false
        var range: (from: Int64, to: Int64?)?
        if let offset { range = (offset, spool.present.nextStart(after: offset)) }
        if requests.count == 2 { client.remove(requests.removeFirst()) }
        try ask(try client.target(of: location, access), for: range, at: requests.count)
    }

    /// Whether a request may start: no other job is fetching the source for the cache, and the host has a free permit.
    private func isTurn(at offset: Int64?) throws(Failure) -> Bool {
        if offset == nil, try cache?.mayAsk() == false { return false }
        return try permit.take()
    }

    private func ask(
        _ target: RequestTarget, for range: (from: Int64, to: Int64?)?, redirects: Int = 0, at index: Int
    ) throws(Failure) {
        let request = try RemoteRequest.fetching(
            target, range: range, condition: range == nil ? cache?.condition : identity?.condition,
            redirects: redirects, policy: client.policy, addresses: client.sourceAddresses, owner: self)
        requests.insert(request, at: index)
        client.add(request)
    }

    /// Follows a redirect.
    private func follow(_ request: RemoteRequest, _ isActive: Bool) throws(Failure) {
        guard request.redirects < client.policy.maxRedirects else { throw .tooManyRedirects(url) }
        guard let text = ParsedURL.resolve(request.redirection ?? "", against: request.target.url),
            ["http", "https"].contains(text.prefix { $0 != ":" }.lowercased())
        else { throw .redirects("to a URL that is neither http nor https", url) }
        let location = try SourceLocation(text)
        let target = RequestTarget(url: location.text, name: url, headers: try access.lines(for: location.text))
        try ask(
            target, for: request.range, redirects: request.redirects + 1, at: isActive ? requests.count : 0)
        if !isActive { requests[0].pause(true) }
    }

    /// Ensures that the first byte missing from the reader's position on is being fetched.
    private func arrange() {
        guard failure == nil, retryAt == nil, let identity else { return }
        let hole = spool.present.firstGap(from: wanted)
        guard hole < identity.length ?? .max else {
            requests.last?.pause(false)
            if spool.length == identity.length { cache?.keep(spool) }
            return
        }
        if let request = requests.last(where: { reaches(hole, $0) }) {
            resume(request)
        } else if isAlone, let request = requests.last(where: { $0.position <= hole }) {
            resume(request)
        } else if identity.canResume {
            for request in requests { request.pause(true) }
            // libcurl would buffer up to 32 MiB of a paused response on the shared connection.
            if isAlone || identity.sharesConnection { cancelRequests() }
            do { try start(at: hole) } catch { fail(error) }
        } else if let request = requests.first {
            resume(request)
        } else {
            fail(cannotResume)
        }
    }

    /// Whether the request will reach the gap soon without another request.
    private func reaches(_ hole: Int64, _ request: RemoteRequest) -> Bool {
        guard request.position <= hole, hole - request.position <= Self.near else { return false }
        return spool.present.nextStart(after: request.position) ?? .max > hole
    }

    private func resume(_ request: RemoteRequest) {
        requests.removeAll { $0 === request }
        for other in requests { other.pause(true) }
        requests.append(request)
        request.pause(false)
    }

    // MARK: When a request breaks

    private func broke(_ failure: Failure, _ isActive: Bool) {
        // No reader waits for the other request. Its bytes are requested when they are needed.
        guard isActive || requests.isEmpty else { return }
        guard let identity else { return fail(failure) }
        lastBreak = failure
        guard identity.canResume else { return fail(cannotResume) }
        breaks = progressBytes < Self.minProgressBytes ? breaks + 1 : 1
        progressBytes = 0
        // One failure may be accidental. If requests fail again while another one is paused, the server may allow only one.
        if breaks > 1, !requests.isEmpty {
            isAlone = true
            return arrange()
        }
        guard breaks <= client.policy.maxResumes, failure.retryAfter ?? 0 <= Self.maxRetryDelay else {
            return fail(failure)
        }
        let delay = Self.backoff.delay(afterFailure: breaks)
        retryAt = .now + max(delay, .seconds(failure.retryAfter ?? 0))
    }

    private func fail(_ failure: Failure) {
        self.failure = failure
        cache = nil
        retryAt = nil
        cancelRequests()
        permit.release()
    }

    private func cancelRequests() {
        for request in requests { client.remove(request) }
        requests = []
    }

    private var cannotResume: Failure {
        if let lastBreak, lastBreak.code == .sourceTimeout {
            lastBreak
        } else {
            .withoutParts(url, mayKnowRanges: identity?.mayKnowRanges ?? false)
        }
    }

    private func checkSize(_ size: Int64?) throws(Failure) {
        if let size, size > maxBytes { throw .overLimit(size, maxBytes, url) }
    }
}
