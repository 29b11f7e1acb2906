import Bytes
import Conversion
import Decoding
import Encoders
import Encoding
import FoundationEssentials
import Glibc
import Libav
import Lifecycle
import MediaTypes
import TestSupport

/// Makes source files with ffmpeg, each once in a test run, converts them, and decodes the results with ffmpeg.
actor Studio {
    static let shared = Studio()

    nonisolated let folder: TemporaryFolder
    private var made: [[String]: Task<String, any Error>] = [:]
    /// The first source with each extension and arguments: others are copies of it.
    private var originals: [[String]: Task<String, any Error>] = [:]
    private var names: Set<String> = []
    private var outputs = 0

    private init() {
        LibavLog.install()
        folder = try! TemporaryFolder()
    }

    /// A source that ffmpeg makes from its arguments. The extension of its name selects the container.
    ///
    /// Suites run in parallel, so two of them may use the same name for different files.
    func source(_ name: String, _ arguments: [String]) async throws -> String {
        if let task = made[[name] + arguments] { return try await task.value }
        var path = folder.file(name)
        if !names.insert(name).inserted {
            let place = folder.file("\(made.count)")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            path = place + "/" + name
        }
        let file = path
        let kind = [String(name[(name.lastIndex(of: ".") ?? name.startIndex)...])] + arguments
        let original = originals[kind]
        let task = Task {
            if let original {
                try FileManager.default.copyItem(atPath: try await original.value, toPath: file)
            } else {
                try await Self.ffmpeg(arguments + [file])
            }
            return file
        }
        made[[name] + arguments] = task
        if original == nil { originals[kind] = task }
        return try await task.value
    }

    /// Stereo at 44.1 kHz and 16 bits: two frequency-modulated tones.
    func music(seconds: Int = 3) async throws -> String {
        let left = "0.4*sin(2*PI*440*t)+0.2*sin(2*PI*1234*t+3*sin(PI*t))"
        let right = "0.3*sin(2*PI*660*t+2*sin(2*PI*t))"
        return try await source(
            "music.wav", ["-f", "lavfi", "-i", "aevalsrc='\(left)|\(right)':s=44100:d=\(seconds)"])
    }

    /// The music, encoded by ffmpeg.
    func music(seconds: Int = 3, as name: String, _ arguments: [String] = []) async throws -> String {
        try await source(name, ["-i", try await music(seconds: seconds)] + arguments)
    }

    /// A new path for an output.
    func output(_ fileExtension: String) -> String {
        outputs += 1
        return folder.file("output-\(outputs).\(fileExtension)")
    }

    /// What makes ffmpeg decode the next input, which is Opus, by its reference.
    static let opus = ["-c:a", "libopus", "-request_sample_fmt", "flt"]

    /// The same for Speex, of which the own decoder of ffmpeg 7 returns wideband frames twice.
    static let speex = ["-c:a", "libspeex"]

    static func ffmpeg(_ arguments: [String]) async throws {
        let outcome = try await WarmProgram.ffmpeg.run(["-v", "error", "-nostdin", "-y"] + arguments)
        guard outcome.succeeded else { throw NotMade(description: outcome.errors) }
    }

    struct NotMade: Error, CustomStringConvertible {
        let description: String
    }
}

/// Runs a blocking body on a separate thread.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}

/// The result of a finished conversion, and its file.
struct Converted {
    let result: ConversionResult
    let path: String
}

/// Converts the file at a path.
func convert(
    _ source: String, _ rendition: Rendition, start: MediaTime = .zero, end: MediaTime? = nil,
    threads: ThreadBudget = .one, stop: CancellationFlag = CancellationFlag(),
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
) async throws -> Converted {
    let path = await Studio.shared.output(AudioFormat.named(rendition.format)?.fileExtension ?? "bin")
    let result = try await onThread {
        let input = Descriptor(owning: open(source, O_RDONLY | O_CLOEXEC))
        let output = Descriptor(owning: open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600))
        let plan = ConversionPlan(
            source: SourceSettings(range: TimeRange(start: start, end: end)), renditions: [rendition])
        return try Converter.run(
            source: DescriptorSource(borrowing: input.number),
            stores: OneStore(DescriptorStore(borrowing: output.number), descriptor: output.number), plan: plan,
            threads: threads, stop: stop, progress: progress)[0].get()
    }
    return Converted(result: result, path: path)
}

/// A mono file with the given samples at 44.1 kHz.
func wave<Number: BitwiseCopyable>(_ samples: [Number], _ format: String = "f32le") async throws -> String {
    let (raw, path) = (await Studio.shared.output("raw"), await Studio.shared.output("wav"))
    try samples.withUnsafeBytes { try Data($0).write(to: URL(filePath: raw)) }
    try await Studio.ffmpeg(["-f", format, "-ar", "44100", "-ac", "1", "-i", raw, "-c:a", "pcm_" + format, path])
    return path
}

/// The store of a conversion with a single output.
final class OneStore: OutputStores {
    private let store: any RandomAccessOutput
    private let descriptor: CInt?

    init(_ store: any RandomAccessOutput, descriptor: CInt? = nil) {
        (self.store, self.descriptor) = (store, descriptor)
    }

    /// Empties and returns the store. It is opened again if an output is encoded a second time.
    func open(output index: Int, part name: String?) throws -> any RandomAccessOutput {
        (store as? MemoryFile)?.clear()
        if let descriptor { ftruncate(descriptor, 0) }
        return store
    }
}

extension Converter {
    /// Converts a source to a single output.
    static func run(
        source: any ByteSource, store: any RandomAccessOutput, rendition: Rendition, range: TimeRange,
        stop: CancellationFlag,
        progress: (Progress) -> Void
    ) throws(MediaError) -> ConversionResult {
        let plan = ConversionPlan(source: SourceSettings(range: range), renditions: [rendition])
        return try run(source: source, stores: OneStore(store), plan: plan, stop: stop, progress: progress)[0].get()
    }
}

/// The error with which a conversion fails; `nil` if it succeeds.
func failure(
    _ source: String, _ rendition: Rendition = Rendition(format: "wav"), start: MediaTime = .zero, end: MediaTime? = nil
) async -> MediaError? {
    do {
        _ = try await convert(source, rendition, start: start, end: end)
        return nil
    } catch { return error as? MediaError }
}

/// All samples of a file as ffmpeg decodes them, interleaved.
func decode<Sample: BitwiseCopyable>(
    _ path: String, as type: Sample.Type, _ format: String, _ decoding: [String] = []
) async throws -> [Sample] {
    try await decode([path], as: type, format, decoding)[0]
}

/// All samples of several files, decoded by a single ffmpeg process, at their own rate unless one is given.
func decode<Sample: BitwiseCopyable>(
    _ paths: [String], as type: Sample.Type, _ format: String, _ decoding: [String] = [], rate: Int? = nil
) async throws -> [[Sample]] {
    var arguments = paths.flatMap { decoding + ["-i", $0] }
    var raw: [String] = []
    for index in paths.indices {
        raw.append(await Studio.shared.output("raw"))
        arguments += ["-map", "\(index):a:0", "-f", format] + (rate.map { ["-ar", String($0)] } ?? []) + [raw[index]]
    }
    try await Studio.ffmpeg(arguments)
    return try raw.map { path in
        try Data(contentsOf: URL(filePath: path)).withUnsafeBytes { Array($0.bindMemory(to: Sample.self)) }
    }
}

/// The MD5 of a file's samples as ffmpeg decodes them.
func md5(_ path: String, _ format: String) async throws -> String {
    let outcome = try await WarmProgram.ffmpeg.run(
        ["-v", "error", "-nostdin", "-i", path, "-c:a", "pcm_\(format)", "-f", "md5", "-"])
    return String(outcome.output.dropFirst("MD5=".count).prefix(32))
}

/// A value that ffprobe reports about a file's audio stream.
func ffprobe(_ path: String, _ entry: String, _ arguments: [String] = []) async throws -> String {
    let outcome = try await WarmProgram.ffprobe.run(
        ["-v", "error", "-select_streams", "a:0", "-show_entries", entry, "-of", "default=nw=1:nk=1", path] + arguments)
    return outcome.output.split(separator: "\n").first.map(String.init) ?? ""
}

/// ffmpeg's description of the audio in each file, in one line, such as `Audio: mp3, 44100 Hz, stereo, fltp, 128 kb/s`.
func describe(_ paths: [String]) async throws -> [String] {
    let outcome = try await WarmProgram.ffmpeg.run(["-hide_banner", "-nostdin"] + paths.flatMap { ["-i", $0] })
    return outcome.errors.split(separator: "\n").filter { $0.contains("Stream #") && $0.contains("Audio:") }.map(
        String.init)
}

/// The bytes of a file.
func fileBytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
