import Bytes
import Conversion
import Decoding
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle
import MediaTypes
import Synchronization
import TestSupport
import Testing

/// Several outputs of one decode, each on a thread of its own.
@Suite(.failureReport, .timeLimit(.minutes(5))) struct SeveralOutputsTests {
    /// Files of a conversion by their number; one of them may fail after so many bytes.
    final class Files: OutputStores {
        let paths: [String]
        private let descriptors: [CInt]
        private let broken: Int?

        init(_ paths: [String], broken: Int? = nil) {
            self.paths = paths
            self.broken = broken
            descriptors = paths.map { Glibc.open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        }

        deinit { for descriptor in descriptors { close(descriptor) } }

        func open(output index: Int, part name: String?) throws -> any RandomAccessOutput {
            index == broken ? FullStore() : DescriptorStore(borrowing: descriptors[index])
        }
    }

    /// A disk that is full after 100 kB.
    private final class FullStore: RandomAccessOutput {
        var length: Int64 = 0

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
            length = max(length, offset + Int64(bytes.count))
            if length > 100_000 { throw Errno(rawValue: ENOSPC) }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int { 0 }
    }

    /// A file that, read from start to end, pauses at each third for longer than there is between two reports.
    private final class HaltingSource: ByteSource {
        private let source: DescriptorSource
        private var halts: [Int64]

        init(_ source: DescriptorSource) {
            self.source = source
            halts = [source.length / 3, source.length * 2 / 3]
        }

        var length: Int64 { source.length }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
            // A look at the end, before anything is converted, is none of these.
            if let halt = halts.first, (halt..<halt + length / 10).contains(offset) {
                halts.removeFirst()
                usleep(110_000)
            }
            return try source.read(into: buffer, at: offset)
        }
    }

    private typealias Results = [Result<ConversionResult, MediaError>]

    private func run(
        _ source: String, _ renditions: [Rendition], broken: Int? = nil, isAtomic: Bool = false, halts: Bool = false,
        stop: CancellationFlag = CancellationFlag(), progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> (results: Results, paths: [String]) {
        var paths: [String] = []
        for rendition in renditions { paths.append(await Studio.shared.output(rendition.format)) }
        let places = paths
        let results = try await onThread {
            let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
            let plan = ConversionPlan(
                source: SourceSettings(range: TimeRange(start: MediaTime(value: 1, timescale: 3), end: nil)),
                renditions: renditions, isAtomic: isAtomic)
            let file = try DescriptorSource(borrowing: input.number)
            return try Converter.run(
                source: halts ? HaltingSource(file) : file, stores: Files(places, broken: broken), plan: plan,
                stop: stop, progress: progress)
        }
        return (results, paths)
    }

    private static let ladder = [
        Rendition(format: "mp3", bitRate: 64_000), Rendition(format: "flac"),
        Rendition(format: "m4a", sampleRate: 22_050, channels: 1), Rendition(format: "wav", sampleFormat: .f32),
    ]

    @Test(arguments: ["music.wav", "music.flac", "music.mp3"])
    func `each output is bit for bit what it is when made alone`(name: String) async throws {
        let source = name == "music.wav" ? try await Studio.shared.music() : try await Studio.shared.music(as: name)
        let together = try await run(source, Self.ladder)
        for (index, rendition) in Self.ladder.enumerated() {
            let alone = try await run(source, [rendition])
            #expect(try together.results[index].get() == alone.results[0].get())
            let files = try [together.paths[index], alone.paths[0]].map { try Data(contentsOf: URL(filePath: $0)) }
            #expect(files[0] == files[1], "\(rendition.format)")
        }
    }

    @Test func `frames that go to several outputs at different times are independent copies`() async throws {
        // Silence first, so that what is trimmed is behind the others by as much.
        let source = try await Studio.shared.source(
            "late.wav", ["-f", "lavfi", "-i", "aevalsrc='if(gt(t,1),0.5*sin(2*PI*440*t),0)':s=44100:d=8", "-ac", "2"])
        var trimmed = Rendition(format: "mka", codec: "flac")
        trimmed.sound.trimSilence = SilenceTrim(threshold: -60)
        let renditions = [Rendition(format: "mka", codec: "flac"), trimmed, Rendition(format: "mka", codec: "pcm")]
        let together = try await run(source, renditions)
        for (index, rendition) in renditions.enumerated() {
            let alone = try await run(source, [rendition])
            #expect(try together.results[index].get() == alone.results[0].get())
            let samples = try await decode([together.paths[index], alone.paths[0]], as: Int16.self, "s16le")
            #expect(samples[0] == samples[1], "output \(index)")
        }
    }

    @Test func `an output that fails leaves the others alone`() async throws {
        let source = try await Studio.shared.music()
        let (results, paths) = try await run(source, Self.ladder, broken: 3)
        #expect(results.prefix(3).allSatisfy { (try? $0.get()) != nil })
        guard case .failure(let error) = results[3], case .store(let cause) = error.reason else {
            Issue.record("the full disk was not told: \(results[3])")
            return
        }
        #expect((cause as? Errno)?.rawValue == ENOSPC)
        #expect(try await decode(paths[1], as: Int16.self, "s16le").count == (3 * 44_100 - 14_700) * 2)
    }

    @Test func `the progress and the outcome of each output are reported`() async throws {
        let source = try await Studio.shared.music(seconds: 6)
        let reports = Mutex<[Progress]>([])
        _ = try await run(source, Self.ladder, broken: 3, halts: true) { report in
            reports.withLock { $0.append(report) }
        }
        let told = reports.withLock { $0 }.map(\.outputs)
        #expect(told.first == [])
        #expect(told.last?.map(\.phase) == [.complete, .complete, .complete, .failed])
        let under = told.filter { !$0.isEmpty }
        #expect(under.count > 1 && under[0][1].phase == .converting, "\(told)")
        for (one, next) in zip(under, under.dropFirst()) {
            for index in one.indices { #expect(one[index].fraction <= next[index].fraction) }
        }
        reports.withLock { $0 = [] }
        _ = try await run(source, [Rendition(format: "wav")], halts: true) { report in
            reports.withLock { $0.append(report) }
        }
        let alone = reports.withLock { $0 }
        #expect(alone.count > 3 && alone.allSatisfy { $0.outputs.isEmpty }, "\(alone)")
    }

    @Test func `an output that fails ends all others if all are required`() async throws {
        let source = try await Studio.shared.music()
        let error = await #expect(throws: MediaError.self) {
            _ = try await run(source, Self.ladder, broken: 3, isAtomic: true)
        }
        #expect(error?.output == 3)
        guard case .store = error?.reason else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func `a setting that cannot be met fails only its output`() async throws {
        let source = try await Studio.shared.source("six.wav", ["-f", "lavfi", "-i", "anoisesrc=d=0.5", "-ac", "6"])
        let (results, _) = try await run(source, [Rendition(format: "mp3"), Rendition(format: "flac")])
        #expect(results.count == 2)
        #expect((try? results[1].get())?.channels == 6)
    }

    @Test func `a broken source fails all outputs and leaves no thread behind`() async throws {
        let whole = try await Studio.shared.music(as: "music.flac")
        let data = try Data(contentsOf: URL(filePath: whole))
        let path = await Studio.shared.output("flac")
        try data.prefix(data.count / 2).write(to: URL(filePath: path))
        for _ in 0..<5 {
            let error = await #expect(throws: MediaError.self) { _ = try await run(path, Self.ladder) }
            guard case .truncated = error?.reason else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `a conversion that is stopped ends at once`() async throws {
        let source = try await Studio.shared.source(
            "minutes.wav", ["-f", "lavfi", "-i", "sine=r=44100:d=300", "-ac", "2"])
        let stop = CancellationFlag()
        let error = await #expect(throws: MediaError.self) {
            _ = try await run(source, Self.ladder, stop: stop) { progress in
                if progress.phase == .converting { stop.raise() }
            }
        }
        guard case .cancelled = error?.reason else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test func `a queue holds back the output that is ahead`() async throws {
        let queue = BoundedQueue<Int>()
        let count = Mutex(0)
        startThread {
            while queue.append(1, bytes: 1) { count.withLock { $0 += 1 } }
            count.withLock { $0 = -1 }
        }
        try await eventually("the queue is full") { count.withLock { $0 } == 32 }
        guard case .elements(let first) = queue.take() else {
            Issue.record("the queue is empty")
            return
        }
        #expect(first.count == 32)
        try await eventually("the queue is full again") { count.withLock { $0 } == 64 }
        queue.abort()
        try await eventually("the other side hears of it") { count.withLock { $0 } == -1 }
        guard case .broken = queue.take() else {
            Issue.record("the queue goes on")
            return
        }
    }

    @Test func `a queue takes one element of whatever weight, and no second`() async throws {
        let queue = BoundedQueue<Int>()
        let isFirstIn = Mutex(false)
        startThread {
            _ = queue.append(1, bytes: 1 << 30)
            isFirstIn.withLock { $0 = true }
            _ = queue.append(2, bytes: 1)
            queue.complete()
        }
        try await eventually("the first is in") { isFirstIn.withLock { $0 } }
        var taken: [[Int]] = []
        try await onThread { () -> [[Int]] in
            var portions: [[Int]] = []
            while case .elements(let elements) = queue.take() { portions.append(elements) }
            return portions
        }.forEach { taken.append($0) }
        #expect(taken == [[1], [2]])
    }
}
