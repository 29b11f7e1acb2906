package import Bytes
package import Containers

/// Sources whose bytes end before their container does.
package enum Truncation {
    /// The failure to report, if the source is shorter than its container says.
    package static func found(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> MediaError? {
        // What lies behind is gone, and there is no end to look at.
        guard !source.isEndless else { return nil }
        do { return try descriptor.extent.shortage(source).map { failure($0) } } catch {
            throw .unreadable(error, operation)
        }
    }

    /// The truncation behind another failure, or that failure.
    package static func explain(
        _ error: MediaError, _ source: any ByteSource, _ descriptor: ContainerDescriptor
    ) throws(MediaError) -> MediaError {
        guard case .corruptMedia = error.reason, source.length > 0 else { return error }
        return try found(source, descriptor) ?? error
    }

    /// Whether the container tells where its bytes end, and they do not end before.
    package static func isWhole(
        _ source: any ByteSource, _ descriptor: ContainerDescriptor, _ xing: XingHeader?
    ) throws(MediaError) -> Bool {
        guard !source.isEndless else { return false }
        // The last page has a mark of its own, for which `found` looks.
        if case .lastPage = descriptor.extent { return true }
        do {
            let end = try xing?.end ?? descriptor.extent.end(source)
            return end.map { $0 <= source.length } ?? false
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
