package import Bytes
package import Playlists

/// A door to what a source names: segments, keys and playlists.
///
/// Whoever answers it decides what may be opened at all; a reference may be relative to the playlist that names it.
package protocol NestedSources: AnyObject {
    /// Opens what a playlist names, all of whose bytes are there then; `parent` is the playlist's number, 0 the source's.
    func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource

    /// Says that something will be opened soon, so that it may be fetched meanwhile.
    func expect(_ reference: String, within parent: Int, as kind: NestedKind)

    /// An empty file to collect bytes in.
    func scratch() throws -> any RandomAccessOutput

    /// Waits, for a playlist that grows.
    func wait(seconds: Double) throws
}

/// Something that a playlist named.
package struct NestedSource {
    /// What is named inside it is opened within this number.
    package let number: Int
    package let bytes: any ByteSource

    package init(number: Int, bytes: any ByteSource) {
        self.number = number
        self.bytes = bytes
    }
}
