package import Bytes
import Containers

/// Sources whose bytes end before their container does.
package enum Truncation {
    /// The failure to report, if the source is shorter than its container says.
    package static func found(_ source: any ByteSource, _ format: String) throws(MediaError) -> MediaError? {
        // What lies behind is gone, and there is no end to look at.
        guard !source.isEndless else { return nil }
        do {
            if let end = try SourceEnd.declared(format, source), end > source.length {
                return failure("it has \(source.length) bytes and its headers promise \(end)")
            }
            if format == "nut", try SourceEnd.declared(format, source) == nil {
                return failure("the index is missing with which it should end")
            }
            if format == "ogg", let defect = try OggEnd.defect(source) { return failure(defect) }
            return nil
        } catch {
            throw .unreadable(error, operation)
        }
    }

    /// The truncation behind another failure, or that failure.
    package static func explain(
        _ error: MediaError, _ source: any ByteSource, _ format: String
    ) throws(MediaError) -> MediaError {
        guard case .corruptMedia = error.reason, source.length > 0 else { return error }
        return try found(source, format) ?? error
    }

    /// Whether the container tells where its bytes end, and they do not end before.
    package static func isWhole(
        _ source: any ByteSource, _ format: String, _ xing: XingHeader?
    ) throws(MediaError) -> Bool {
        guard !source.isEndless else { return false }
        do {
            let end = try xing?.end ?? SourceEnd.declared(format, source)
            // The last page of Ogg has a mark of its own, for which `found` looks.
            return format == "ogg" || end.map { $0 <= source.length } ?? false
        } catch {
            throw .unreadable(error, operation)
        }
    }

    /// The failure of a source that is cut short.
    package static func failure(_ why: String) -> MediaError {
        MediaError(.truncated, operation, "the source is cut short: \(why)")
    }

    private static let operation = "read the source"
}
