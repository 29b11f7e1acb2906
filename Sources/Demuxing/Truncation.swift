package import Bytes
package import Containers
package import MediaTypes

/// Detects sources that end before their container does.
package enum Truncation {
    /// The error of a source that is shorter than its container declares; `nil` if it is not.
    package static func found(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> MediaError? {
        // An endless stream has no end to check, and its past cannot be read.
        guard !source.isEndless else { return nil }
        do { return try descriptor.extent.shortage(source).map { failure($0) } } catch {
            throw .unreadable(error, operation)
        }
    }

    /// The truncation that caused another error; otherwise that error.
    package static func explain(
        _ error: MediaError, _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> MediaError {
        guard case .corruptMedia = error.reason, source.length > 0 else { return error }
        return try found(source, descriptor) ?? error
    }

    /// Whether the container declares its end, and the source does not end before it.
    package static func isWhole(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor, _ xing: XingHeader?
    ) throws(MediaError) -> Bool {
        guard !source.isEndless else { return false }
        // The last page is marked, and `found` checks it.
        if case .lastPage = descriptor.extent { return true }
        do {
            let end = try xing?.end ?? descriptor.extent.end(source)
            return end.map { $0 <= source.length } ?? false
        } catch {
            throw .unreadable(error, operation)
        }
    }

    /// A warning if the last page is complete and is not marked as the last one; `nil` for other containers.
    package static func unmarkedEnd(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> Warning? {
        guard case .lastPage = descriptor.extent, !source.isEndless else { return nil }
        do {
            guard try OggEnd.isUnmarked(source) else { return nil }
        } catch { throw .unreadable(error, operation) }
        return Warning(
            .sourceTruncated,
            "the source's last page is not marked as the last one: it is a recording that was stopped, or more followed"
        )
    }

    /// The error of a truncated source.
    package static func failure(_ why: String) -> MediaError {
        MediaError(.truncated, operation, "the source is truncated: \(why)")
    }

    private static let operation = "read the source"
}
