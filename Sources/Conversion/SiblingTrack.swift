import Bytes
import Decoding
import Encoding
import Libav
import Lifecycle
import MediaTypes

/// A track that is read in addition to the one that the conversion reads.
final class SiblingTrack {
    let path: TrackPath
    private var reader: AssetReader
    private let frame: Frame
    private(set) var isFinished = false

    init(
        _ number: Int, _ rendition: Rendition, _ source: any ByteSource, _ settings: SourceSettings,
        _ label: TrackLabel, _ file: MuxedFile, stop: CancellationFlag
    ) throws(MediaError) {
        frame = try Frame()
        var settings = settings
        settings.track = .number(number)
        do throws(MediaError) {
            let reader = try AssetReader.open(source, settings, stop: stop)
            path = try TrackPath.add(number, to: file, rendition, reader, label)
            self.reader = reader
        } catch { throw error.of(track: number) }
    }

    /// Reads and encodes until `seconds` of the range are encoded, or the track ends.
    func advance(to seconds: Double) throws(MediaError) {
        do throws(MediaError) {
            while !isFinished, path.seconds < seconds {
                if try reader.next(into: frame) {
                    try path.append(frame)
                } else {
                    isFinished = true
                    try path.finish()
                }
            }
        } catch { throw error.of(track: path.number) }
    }

    var damage: Damage { reader.damage }

    var warnings: [Warning] { reader.warnings.map { $0.of(track: path.number) } }
}

extension MediaError {
    /// The same error with the track's number.
    func of(track number: Int) -> MediaError {
        if case .cancelled = reason { return self }
        return MediaError(reason, operation, "track \(number): \(sentence)", code: code)
    }
}

extension Warning {
    /// The same warning with the track's number.
    func of(track number: Int) -> Warning {
        var warning = self
        warning.message = "track \(number): \(message)"
        return warning
    }
}
