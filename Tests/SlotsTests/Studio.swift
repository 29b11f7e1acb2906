import FoundationEssentials
import Glibc
import JobSchema
import Lifecycle
import MediaTypes
import SlotIPC
import Slots
import TestSupport

/// A folder with sources, an output root, and slots that may use them.
struct Studio {
    let folder: TemporaryFolder
    /// Frames of `short.wav`.
    static let frames = 44_100

    init() async throws {
        folder = try TemporaryFolder()
        for name in ["in", "out", "spool"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
        }
        try folder.write("in/short.wav", Self.short)
        // An hour of silence that takes no space: the samples are a hole.
        let long = try folder.write("in/long.wav", Self.header(frames: 3600 * 44_100))
        guard truncate(long, 44 + 3600 * 44_100 * 2) == 0 else { throw Errno.last }
    }

    func slot(_ change: (inout SlotConfiguration) -> Void = { _ in }) -> PairSession {
        var configuration = SlotConfiguration()
        configuration.policy.sourceRoots = ["\(folder.path)/in"]
        configuration.policy.outputRoot = "\(folder.path)/out"
        configuration.policy.spoolFolder = "\(folder.path)/spool"
        change(&configuration)
        return PairSession(number: 0, configuration: configuration, log: Log(form: .text, least: .error))
    }

    func task(_ id: String, source: String = "short.wav") -> SlotTask {
        SlotTask(
            id: id, token: "1:\(id)", sourceURL: "file://\(folder.path)/in/\(source)",
            plan: ConversionPlan(renditions: [Rendition(format: "wav")]),
            outputs: [.init(nil, defaultName: "\(id).wav")])
    }

    /// Runs a whole job and answers the children that ran it.
    @discardableResult
    func convert(_ slot: PairSession, id: String, tenant: String? = nil) async throws -> [String: Int32] {
        var task = task(id)
        task.tenant = tenant
        _ = try await slot.convert(task) { _ in }
        try await slot.publish()
        let processes = slot.processes
        await slot.end()
        return processes
    }

    /// Everything in the output root, hidden or not.
    func outputs() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/out").sorted()
    }

    /// How many frames ffmpeg decodes from an output, mono.
    func frames(of name: String) async throws -> Int {
        let outcome = try await WarmProgram.ffmpeg.run(
            ["-v", "error", "-i", "\(folder.path)/out/\(name)", "-f", "s16le", "-"])
        return outcome.standardOutput.count / 2
    }

    /// The header of a RIFF WAVE file: 44.1 kHz, one channel, 16 bits.
    private static func header(frames: Int) -> [UInt8] {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        let size = frames * 2
        return Array("RIFF".utf8) + little(36 + size, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
            + little(1, 2)
            + little(44_100, 4) + little(88_200, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
            + little(size, 4)
    }

    /// A tone.
    private static let short =
        header(frames: frames)
        + (0..<frames).flatMap { frame -> [UInt8] in
            let sample = Int16(8000 * sin(Double(frame) * 440 * 2 * .pi / 44_100))
            return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
}
