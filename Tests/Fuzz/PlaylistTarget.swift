import Lifecycle
import Media
import MediaTypes

/// Text as a playlist, whatever it names being the text behind its first NUL, or a part of it.
enum PlaylistTarget {
    static func resolve(_ bytes: UnsafeRawBufferPointer) {
        let end = bytes.firstIndex(of: 0) ?? bytes.endIndex
        let store = MemoryStore(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        let nested = Nested(UnsafeRawBufferPointer(rebasing: bytes[min(end + 1, bytes.endIndex)...]))
        let range = TimeRange(start: .zero, end: MediaTime(value: 5, timescale: 1))
        _ = try? HLSSource.resolve(
            store.source, nested: nested, settings: SourceSettings(range: range), stop: StopFlag())
    }

    private final class Nested: NestedSources {
        private let store: MemoryStore
        private var opened = 0

        init(_ bytes: UnsafeRawBufferPointer) { store = MemoryStore(bytes) }

        func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource {
            opened += 1
            guard opened < 100 else { throw Refused() }
            return NestedSource(number: opened, bytes: store.source)
        }

        func expect(_ reference: String, within parent: Int, as kind: NestedKind) {}

        func scratch() -> any ByteStore { MemoryStore() }

        func wait(seconds: Double) throws {
            opened += 1
            guard opened < 100 else { throw Refused() }
        }
    }

    private struct Refused: Error {}
}
