import Bytes
import HLS
import Lifecycle
import MediaTypes
import Playlists

/// Text as a playlist, whatever it names being the text behind its first NUL, or a part of it.
///
/// What its reader opens must be what the other side of the link finds named.
enum PlaylistTarget {
    static func resolve(_ bytes: UnsafeRawBufferPointer) {
        let end = bytes.firstIndex(of: 0) ?? bytes.endIndex
        let store = MemoryStore(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        let rest = UnsafeRawBufferPointer(rebasing: bytes[min(end + 1, bytes.endIndex)...])
        let nested = Nested(
            rest, named: names(in: UnsafeRawBufferPointer(rebasing: bytes[..<end])).union(names(in: rest)))
        let range = TimeRange(start: .zero, end: MediaTime(value: 5, timescale: 1))
        _ = try? HLSSource.resolve(
            store.source, nested: nested, settings: SourceSettings(range: range), stop: CancellationFlag())
    }

    private struct Name: Hashable {
        let reference: [UInt8]
        let kind: NestedKind
    }

    private static func names(in bytes: UnsafeRawBufferPointer) -> Set<Name> {
        var names: Set<Name> = []
        try? HLSPlaylist.forEachName(in: bytes) { names.insert(Name(reference: Array($0.utf8), kind: $1)) }
        return names
    }

    private final class Nested: NestedSources {
        private let store: MemoryStore
        private let names: Set<Name>
        private var opened = 0

        init(_ bytes: UnsafeRawBufferPointer, named names: Set<Name>) {
            store = MemoryStore(bytes)
            self.names = names
        }

        func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource {
            opened += 1
            guard opened < 100 else { throw Refused() }
            precondition(
                reference.isEmpty || names.contains(Name(reference: Array(reference.utf8), kind: kind)),
                "a \(kind) is opened that is not named")
            return NestedSource(number: opened, bytes: store.source)
        }

        func expect(_ reference: String, within parent: Int, as kind: NestedKind) {}

        func scratch() -> any RandomAccessOutput { MemoryStore() }

        func wait(seconds: Double) throws {
            opened += 1
            guard opened < 100 else { throw Refused() }
        }
    }

    private struct Refused: Error {}
}
