package import Bytes
import Decoding
import Libav
package import Lifecycle
package import MediaTypes
import Playlists

/// Joins an HTTP Live Streaming presentation into one file: the decrypted segments of its best audio, in order.
package enum HLSSource {
    /// Returns the source itself, or the joined segments if the source is a playlist.
    ///
    /// All segments of the range are fetched before the source is opened, as for every source whose length is only known at its
    /// end.
    package static func resolve(
        _ source: any ByteSource, nested: any NestedSources, settings: SourceSettings, stop: CancellationFlag
    ) throws(MediaError) -> any ByteSource {
        do { guard try HLSPlaylist.begins(source) else { return source } } catch {
            throw .unreadable(error, HLSPlaylist.operation)
        }
        var (playlist, number, reference) = (try HLSPlaylist.read(source), 0, "")
        if case .master(let master) = playlist {
            let chosen: String
            do throws(PlaylistError) { chosen = try master.choose(settings.track) } catch { throw MediaError(error) }
            let opened = try HLSJoin.open(chosen, 0, .playlist, nested)
            (playlist, number, reference) = (try HLSPlaylist.read(opened.bytes), opened.number, chosen)
        }
        guard case .media(let media) = playlist else {
            throw HLSPlaylist.failure("is a master playlist that refers to another master playlist")
        }
        var join = try HLSJoin(nested, parent: number, stop: stop)
        try join.run(media, reference: reference, wanted: settings.range.end)
        return StoredSource(join.store)
    }
}

/// Joins segments into one file.
struct HLSJoin {
    let store: any RandomAccessOutput
    private let nested: any NestedSources
    /// The number of the media playlist.
    private var parent: Int
    private let stop: CancellationFlag
    private var length: Int64 = 0
    /// The duration of the segments so far in seconds.
    private var seconds = 0.0
    private var files = HLSFiles()
    private var times = FragmentTimes()
    private var map: HLSMedia.Map?
    private var setup: [UInt8]?

    init(_ nested: any NestedSources, parent: Int, stop: CancellationFlag) throws(MediaError) {
        do { store = try nested.scratch() } catch {
            throw MediaError(
                .source(error), HLSPlaylist.operation, "the file for the segments cannot be opened: \(error)")
        }
        self.nested = nested
        self.parent = parent
        self.stop = stop
    }

    static func open(
        _ reference: String, _ parent: Int, _ kind: NestedKind, _ nested: any NestedSources
    ) throws(MediaError) -> NestedSource {
        do { return try nested.open(reference, within: parent, as: kind) } catch {
            throw MediaError(
                .source(error), "read the HLS playlist",
                "'\(HLSPlaylist.shown(reference))' of the HLS playlist could not be read: \(error)")
        }
    }

    /// Fetches the segments up to the requested end, from a complete or a live playlist.
    mutating func run(_ media: HLSMedia, reference: String, wanted end: MediaTime?) throws(MediaError) {
        if media.isEnded { return try append(media.segments[...], until: end) }
        guard let end else {
            throw MediaError(
                .invalidSettings, HLSPlaylist.operation,
                "the source is a live HLS playlist, which is endless; give a `duration`")
        }
        var live = HLSLive(media)
        while true {
            try append(live.take(), until: end)
            if live.isEnded || isEnough(end) { return }
            try pause(live.delay)
            // An empty reference reloads the source itself.
            let opened = try Self.open(reference, 0, .playlist, nested)
            parent = opened.number
            guard case .media(let next) = try HLSPlaylist.read(opened.bytes) else {
                throw HLSPlaylist.failure("became a master playlist")
            }
            try live.update(next)
        }
    }

    private func pause(_ seconds: Double) throws(MediaError) {
        if stop.isRaised { throw .stopped }
        do { try nested.wait(seconds: seconds) } catch {
            throw MediaError(.source(error), HLSPlaylist.operation, "waiting for the playlist failed: \(error)")
        }
    }

    /// The durations in playlists are only approximate, and encoder delay adds to them.
    private func isEnough(_ end: MediaTime?) -> Bool { end.map { seconds > $0.seconds * 1.02 + 2 } ?? false }

    private mutating func append(_ segments: ArraySlice<HLSMedia.Segment>, until end: MediaTime?) throws(MediaError) {
        for index in segments.indices {
            if isEnough(end) { return }
            if stop.isRaised { throw .stopped }
            let segment = segments[index]
            if index + 1 < segments.endIndex, segments[index + 1].reference != segment.reference {
                nested.expect(segments[index + 1].reference, within: parent, as: .segment)
            }
            try append(segment)
            seconds += segment.duration
        }
        if length == 0 && end == nil { throw HLSPlaylist.failure("has no segments") }
    }

    private mutating func append(_ segment: HLSMedia.Segment) throws(MediaError) {
        if let map = segment.map, map != self.map {
            try append(map)
            self.map = map
        }
        var reader = try files.reader(
            .segment, segment.reference, segment.range, segment.key, segment.sequence, parent, nested)
        let start = length
        do {
            if segment.map == nil { try reader.skipTag() }
            while let bytes = try reader.next() { try write(bytes) }
            if segment.map != nil {
                try times.join(store, start..<length, isDiscontinuous: segment.isDiscontinuous)
            }
        } catch { throw HLSFiles.failed(error, segment.reference) }
    }

    /// Writes the initialization section of the segments that follow. libav reads only the first one, so later ones must be
    /// identical.
    private mutating func append(_ map: HLSMedia.Map) throws(MediaError) {
        var reader = try files.reader(.map, map.reference, map.range, map.key, 0, parent, nested)
        var bytes: [UInt8] = []
        do {
            while let more = try reader.next(), bytes.count <= Self.maxSetupBytes { bytes += more }
            guard bytes.count <= Self.maxSetupBytes else {
                throw HLSPlaylist.failure("has an initialization section of more than \(Self.maxSetupBytes) bytes")
            }
            guard let setup else {
                self.setup = bytes
                try write(bytes)
                return try times.readSetup(store, 0..<length)
            }
            guard Self.description(setup) == Self.description(bytes) else {
                throw MediaError(
                    .unsupportedFormat, HLSPlaylist.operation,
                    "the HLS segments change their codec or its parameters, which is not supported yet")
            }
        } catch { throw HLSFiles.failed(error, map.reference) }
    }

    private static let maxSetupBytes = 1 << 20

    /// The sample descriptions of an initialization section, which configure the decoder.
    private static func description(_ bytes: [UInt8]) -> [UInt8]? {
        guard let start = bytes.firstRange(of: Array("stsd".utf8)), start.lowerBound >= 4 else { return nil }
        let size = bytes[start.lowerBound - 4..<start.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes[start.lowerBound...].prefix(max(size - 4, 0)))
    }

    private mutating func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try store.write($0, at: length) }
        length += Int64(bytes.count)
    }
}
