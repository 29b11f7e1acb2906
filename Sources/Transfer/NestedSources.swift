import Downloads
import Glibc
import JobSchema
import Lifecycle
import Requests
import SlotIPC

/// The nested sources of the job's source: segments, keys and playlists. Each is fetched whole; the next ones are prefetched.
final class NestedSources {
    private let client: HTTPClient
    private let access: WebAccess
    /// Playlists by number; 0 is the job's source.
    private var playlists: [Int: Playlist]
    /// Running fetches, in the order of their requests.
    private var fetches: [Fetch] = []
    /// Counts of started fetches and of opened playlists.
    private var (started, opened) = (0, 0)
    private var bytes: Int64 = 0

    /// Maximum number of concurrent fetches, including the one that the transcoder waits for.
    private static let maxFetches = 3
    /// Maximum number of playlists kept in addition to the source: a live playlist is reloaded repeatedly.
    private static let maxPlaylists = 2

    private struct Playlist {
        let base: String
        let depth: Int
        let names: PlaylistNames
    }

    private struct Request: Hashable {
        let reference: String
        let parent: Int
        let kind: NestedReference
    }

    private final class Fetch {
        let request: Request
        let depth: Int
        let base: String
        var source: OpenSource

        init(_ request: Request, depth: Int, base: String, source: consuming OpenSource) {
            self.request = request
            self.depth = depth
            self.base = base
            self.source = source
        }
    }

    /// Nested sources of the source at the URL or path. A source that is not a playlist has none.
    init(_ names: PlaylistNames, base: String, _ access: WebAccess, client: HTTPClient) {
        self.client = client
        self.access = access
        playlists = names.isPlaylist ? [0: Playlist(base: base, depth: 0, names: names)] : [:]
    }

    /// The latest time at which `tick` must be called.
    var nextDeadline: ContinuousClock.Instant? { fetches.compactMap { $0.source.nextDeadline }.min() }

    /// Handles timeouts and retries that are due.
    func tick() {
        for fetch in fetches { fetch.source.tick(.now) }
    }

    /// Starts to prefetch a reference. An error is reported when the reference is opened.
    func expect(_ reference: String, within parent: Int, as kind: NestedReference) {
        guard fetches.count < Self.maxFetches else { return }
        _ = try? fetch(Request(reference: reference, parent: parent, kind: kind))
    }

    /// The number and a descriptor of the referenced source, once it is complete; `nil` before.
    func open(_ reference: String, within parent: Int, as kind: NestedReference) throws(Failure) -> Opened? {
        let fetch = try fetch(Request(reference: reference, parent: parent, kind: kind))
        if let failure = fetch.source.failure { throw failure }
        guard let length = fetch.source.length else { return nil }
        let missing = fetch.source.run(from: 0)
        guard missing >= length else {
            fetch.source.need(missing)
            return nil
        }
        fetches.removeAll { $0 === fetch }
        bytes += length
        guard bytes <= client.policy.maxSourceBytes else {
            throw Failure(
                .tooLarge, "the source's segments exceed the limit of \(client.policy.maxSourceBytes) bytes")
        }
        let reader = try fetch.source.reader()
        guard kind == .playlist else { return Opened(number: -1, reader: reader) }
        opened += 1
        let names = PlaylistNames(in: reader, length: length, atMost: client.policy.maxPlaylistBytes)
        if names.isPlaylist {
            playlists[opened] = Playlist(base: fetch.source.base ?? fetch.base, depth: fetch.depth, names: names)
        }
        if opened > Self.maxPlaylists { playlists[opened - Self.maxPlaylists] = nil }
        return Opened(number: opened, reader: reader)
    }

    private func fetch(_ request: Request) throws(Failure) -> Fetch {
        if let known = fetches.first(where: { $0.request == request }) { return known }
        guard let playlist = playlists[request.parent] else {
            throw Failure(.policyDenied, "a source is requested to which no open playlist can refer")
        }
        // The source itself may be requested again, because it may be a live playlist.
        let isSource = request.reference.isEmpty && request.parent == 0 && request.kind == .playlist
        guard isSource || playlist.names.contains(request.reference, as: request.kind) else {
            throw Failure(
                .policyDenied,
                "respool-transcode requested a \(request.kind.rawValue) to "
                    + "which the playlist '\(redactedURL(playlist.base))' does not refer")
        }
        guard playlist.depth < client.policy.maxPlaylistDepth || request.kind == .key else {
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(playlist.base))' is nested more than \(client.policy.maxPlaylistDepth) levels deep"
            )
        }
        started += 1
        guard started <= client.policy.maxNestedSources else {
            throw Failure(
                .tooLarge,
                "the source has more than \(client.policy.maxNestedSources) segments; see RESPOOL_MAX_SEGMENTS"
            )
        }
        let location = try ReferenceURL.resolve(request.reference, against: playlist.base)
        let limit =
            switch request.kind {
            case .playlist: client.policy.maxPlaylistBytes
            case .key: Int64(1024)
            case .segment, .map: max(client.policy.maxSourceBytes - bytes, 1)
            }
        let source = try OpenSource.open(location, access, client: client, maxBytes: limit)
        let fetch = Fetch(request, depth: playlist.depth + 1, base: location.text, source: source)
        // The oldest prefetched source is dropped to make room.
        if fetches.count >= Self.maxFetches { fetches.removeFirst() }
        fetches.append(fetch)
        return fetch
    }
}

/// A nested source that has been opened.
struct Opened: ~Copyable {
    let number: Int
    let reader: Descriptor
}
