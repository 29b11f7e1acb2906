package import Bytes

/// The end of the data that a container's structure declares.
package enum Extent: Sendable {
    /// It declares no end.
    case undeclared
    /// Its headers declare the offset after the last byte; `nil` if they omit it.
    case header(@Sendable (SourceBytes) throws -> Int64?)
    /// Its headers may declare the offset after the last byte. If they omit it, the second function returns the defect of the last
    /// unit, if it is incomplete.
    case headerOrUnits(
        @Sendable (SourceBytes) throws -> Int64?, @Sendable (SourceBytes) throws -> String?)
    /// The file ends with an index. The function returns the offset after it; `nil` if it is missing.
    case index(@Sendable (SourceBytes) throws -> Int64?)
    /// The last pages are marked. The function returns the defect if they are incomplete.
    case lastPage(@Sendable (any ByteSource) throws -> String?)

    /// The offset after the last byte that the container declares; `nil` if it declares none.
    package func end(_ source: any ByteSource) throws -> Int64? {
        switch self {
        case .header(let end), .index(let end), .headerOrUnits(let end, _): try end(SourceBytes(source))
        case .undeclared, .lastPage: nil
        }
    }

    /// The reason why the source is considered shorter than its container declares; `nil` if it is complete.
    package func shortage(_ source: any ByteSource) throws -> String? {
        if case .lastPage(let defect) = self { return try defect(source) }
        if let end = try end(source) {
            return end > source.length ? "it has \(source.length) bytes, and its headers declare \(end)" : nil
        }
        switch self {
        case .index: return "the index at its end is missing"
        case .headerOrUnits(_, let defect): return try defect(SourceBytes(source))
        case .undeclared, .header, .lastPage: return nil
        }
    }
}
