import Bytes
import HLS
import JobSchema
import Lifecycle
import Playlists
import SlotIPC

/// The nested sources of a playlist. `respool-transfer` fetches them, and decides which may be opened.
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
        // A broken link is reported by the next request.
        try? link.send(.expect(reference, within: parent, as: .init(kind)))
    }

    func scratch() throws -> any RandomAccessOutput {
        var answer = try link.ask(.scratch)
        guard case .scratch = answer.message, let descriptor = answer.descriptor.take() else {
            throw Failure(.internal, "respool-transfer created a scratch file without its descriptor")
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

/// A complete file with its descriptor.
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

/// A scratch file with its descriptor.
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
        // A scratch file is in the spool folder, so its write errors are the spool's and not the output's.
        do { try store.write(bytes, at: offset) } catch let error as Errno { throw Failure.ofSpool(error) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try store.read(into: buffer, at: offset)
    }
}
