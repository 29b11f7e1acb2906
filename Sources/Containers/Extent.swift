package import Bytes

/// How far a container's own structure says its bytes go.
package enum Extent: Sendable {
    /// It does not tell.
    case untold
    /// Its headers tell the offset after the last byte; nothing if they leave it out.
    case header(@Sendable (SourceBytes) throws -> Int64?)
    /// An index ends it, with the offset after that; nothing if it is missing.
    case index(@Sendable (SourceBytes) throws -> Int64?)
    /// Its last pages have a mark of their own; answers why they are not all there.
    case lastPage(@Sendable (any ByteSource) throws -> String?)

    /// The offset after the last byte that the container declares; nothing if it declares none.
    package func end(_ source: any ByteSource) throws -> Int64? {
        switch self {
        case .header(let end), .index(let end): try end(SourceBytes(source))
        case .untold, .lastPage: nil
        }
    }

    /// Why the source is shorter than its container says; nothing if it is not.
    package func shortage(_ source: any ByteSource) throws -> String? {
        if case .lastPage(let defect) = self { return try defect(source) }
        if let end = try end(source) {
            return end > source.length ? "it has \(source.length) bytes and its headers promise \(end)" : nil
        }
        if case .index = self { return "the index is missing with which it should end" }
        return nil
    }
}
