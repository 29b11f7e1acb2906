import Glibc
import JobSchema
import Lifecycle
import SlotIPC
import Storage

/// What the job's source names: segments, keys and playlists, each fetched whole; the next ones ahead of time.
final class NestedSources {
    private let client: HTTPClient
    private let access: WebAccess
    /// Playlists by their number; 0 is the job's source.
    private var playlists: [Int: Playlist]
    /// What is on its way, in the order in which it was asked for.
    private var fetches: [Fetch] = []
    /// Fetches that were begun, and playlists that were opened.
    private var (started, opened) = (0, 0)
    private var bytes: Int64 = 0

    /// Fetches at a time, the one that is waited for among them.
    private static let maxFetches = 3
    /// Playlists that are remembered besides the source: a live one is read again and again.
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

    /// Nested sources of the source that was found at the URL or path, which may be no playlist and then names none.
    init(_ names: PlaylistNames, base: String, _ access: WebAccess, client: HTTPClient) {
        self.client = client
        self.access = access
        playlists = names.isPlaylist ? [0: Playlist(base: base, depth: 0, names: names)] : [:]
    }

    /// When `tick` wants to be called at the latest.
    var nextDeadline: ContinuousClock.Instant? { fetches.compactMap { $0.source.nextDeadline }.min() }

    /// Moves on what depends on time.
    func tick() {
        for fetch in fetches { fetch.source.tick(.now) }
    }

    /// Begins to fetch what will be asked for soon; what is wrong with it shows when it is.
    func expect(_ reference: String, within parent: Int, as kind: NestedReference) {
        guard fetches.count < Self.maxFetches else { return }
        _ = try? fetch(Request(reference: reference, parent: parent, kind: kind))
    }

    /// The number and a descriptor of what is named, once all of it is there.
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
                .tooLarge, "the source's segments have over \(client.policy.maxSourceBytes) bytes, which is the limit")
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
            throw Failure(.policyDenied, "a source is wanted that no open playlist can have named")
        }
        // The source itself may be read again, for it may be live.
        let isSource = request.reference.isEmpty && request.parent == 0 && request.kind == .playlist
        guard isSource || playlist.names.contains(request.reference, as: request.kind) else {
            throw Failure(
                .policyDenied,
                "respool-transcode asked for a \(request.kind.rawValue) that the playlist "
                    + "'\(redactedURL(playlist.base))' does not name")
        }
        guard playlist.depth < client.policy.maxPlaylistDepth || request.kind == .key else {
            throw Failure(
                .policyDenied,
                "the playlist '\(redactedURL(playlist.base))' is named by playlists more than "
                    + "\(client.policy.maxPlaylistDepth) deep")
        }
        started += 1
        guard started <= client.policy.maxNestedSources else {
            throw Failure(
                .tooLarge, "the source names over \(client.policy.maxNestedSources) segments; see RESPOOL_MAX_SEGMENTS"
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
        // What was expected and never asked for makes room.
        if fetches.count >= Self.maxFetches { fetches.removeFirst() }
        fetches.append(fetch)
        return fetch
    }
}

/// A nested source that was opened.
struct Opened: ~Copyable {
    let number: Int
    let reader: Descriptor
}
