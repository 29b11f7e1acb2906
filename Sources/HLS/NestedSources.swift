package import Bytes
package import Playlists

/// Opens what a playlist refers to: segments, keys and playlists.
///
/// The implementation decides which references may be opened. A reference may be relative to the playlist that contains it.
package protocol NestedSources: AnyObject {
    /// Opens a reference; returns once all of its bytes are present. `parent` is the number of the playlist that contains it, 0
    /// for the source.
    func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource

    /// Announces that a reference will be opened soon, so that it can be prefetched.
    func expect(_ reference: String, within parent: Int, as kind: NestedKind)

    /// Opens an empty temporary file.
    func scratch() throws -> any RandomAccessOutput

    /// Waits before a live playlist is reloaded.
    func wait(seconds: Double) throws
}

/// A source that a playlist refers to.
package struct NestedSource {
    /// The parent number for references inside this source.
    package let number: Int
    /// The contents of the source.
    package let bytes: any ByteSource

    package init(number: Int, bytes: any ByteSource) {
        self.number = number
        self.bytes = bytes
    }
}
