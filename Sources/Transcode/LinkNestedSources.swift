import Bytes
import HLS
import JobSchema
import Lifecycle
import Playlists
import SlotIPC

/// What a playlist names, fetched by the other child: it decides what may be opened.
final class LinkNestedSources: NestedSources {
    private let link: Link
    private let reporter: Reporter

    init(link: Link, reporter: Reporter) {
        self.link = link
        self.reporter = reporter
    }

    func open(_ reference: String, within parent: Int, as kind: NestedKind) throws -> NestedSource {
        reporter.keepAlive()
        var answer = try link.ask(.openNested(reference, within: parent, as: .init(kind)))
        guard case .openedWhole(let number) = answer.message, let descriptor = answer.descriptor.take() else {
            throw Failure(.internal, "respool-transfer opened a nested source without its descriptor")
        }
        return NestedSource(number: number, bytes: try OwnedSource(descriptor))
    }

    func expect(_ reference: String, within parent: Int, as kind: NestedKind) {
        // A link that is broken shows at the next question.
        try? link.send(.expect(reference, within: parent, as: .init(kind)))
    }

    func scratch() throws -> any RandomAccessOutput {
        var answer = try link.ask(.scratch)
        guard case .scratch = answer.message, let descriptor = answer.descriptor.take() else {
            throw Failure(.internal, "respool-transfer made a scratch file without its descriptor")
        }
        return OwnedStore(descriptor)
    }

    func wait(seconds: Double) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            reporter.keepAlive()
            try link.idle(milliseconds: 500)
        }
    }
}

extension NestedReference {
    fileprivate init(_ kind: NestedKind) {
        switch kind {
        case .playlist: self = .playlist
        case .segment: self = .segment
        case .key: self = .key
        case .map: self = .map
        }
    }
}

/// A file that is there whole, and its descriptor.
private final class OwnedSource: ByteSource {
    private let descriptor: Descriptor
    private let source: DescriptorSource

    init(_ descriptor: consuming Descriptor) throws {
        source = try DescriptorSource(borrowing: descriptor.number)
        self.descriptor = descriptor
    }

    var length: Int64 { source.length }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try source.read(into: buffer, at: offset)
    }
}

/// A file in the making, and its descriptor.
private final class OwnedStore: RandomAccessOutput {
    private let descriptor: Descriptor
    private let store: DescriptorStore

    init(_ descriptor: consuming Descriptor) {
        store = DescriptorStore(borrowing: descriptor.number)
        self.descriptor = descriptor
    }

    var length: Int64 {
        get throws { try store.length }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // The disk of the spool is the source's side of things.
        do { try store.write(bytes, at: offset) } catch let error as Errno { throw Failure.ofSpool(error) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}
