import Bytes
import Playlists

extension HLSPlaylist {
    static let operation = "read the playlist"

    /// Whether the source begins as every playlist does.
    static func begins(_ source: any ByteSource) throws -> Bool {
        try SourceBytes(source).read(at: 0, PlaylistMark.length).map { PlaylistMark.begins($0) } ?? false
    }

    static func read(_ source: any ByteSource) throws(MediaError) -> HLSPlaylist {
        let bytes: [UInt8]?
        do { bytes = try SourceBytes(source).read(at: 0, Int(min(source.length, maxBytes + 1))) } catch {
            throw MediaError(.source(error), operation, "the playlist could not be read: \(error)")
        }
        guard let bytes, bytes.count <= maxBytes else {
            throw failure("has \(source.length) bytes, over the limit of \(maxBytes)")
        }
        do throws(PlaylistError) { return try parse(bytes) } catch { throw MediaError(error) }
    }

    static func failure(_ why: String) -> MediaError { MediaError(PlaylistError.corrupt(why)) }
}

extension MediaError {
    init(_ error: PlaylistError) {
        let reason: Reason =
            switch error.reason {
            case .corrupt: .corruptMedia
            case .noAudio: .noAudio
            case .protected: .protectedContent
            case .unsupported: .unsupportedFormat
            }
        self.init(reason, HLSPlaylist.operation, error.sentence)
    }
}
