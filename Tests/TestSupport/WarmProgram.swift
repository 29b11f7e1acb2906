import FoundationEssentials
import Lifecycle

/// A program of FFmpeg that is dynamically linked only once for all of its runs, because linking takes longer than most runs in
/// the tests.
package actor WarmProgram {
    package static let ffmpeg = WarmProgram("ffmpeg")
    package static let ffprobe = WarmProgram("ffprobe")

    private let name: String
    private var running: Task<Running, any Error>?

    /// The process that waits to be forked, and the program that requests it.
    private struct Running {
        let process: ChildProcess
        let caller: String
        let socket: String
    }

    private init(_ name: String) { self.name = name }

    /// Runs the program to its end.
    package func run(_ arguments: [String], folder: String? = nil) async throws -> Outcome {
        let linking = running ?? Task { try await link() }
        running = linking
        let warm = try await linking.value
        return try await ChildProcess.run(
            warm.caller, [warm.socket, name] + arguments, folder: folder, isBound: true)
    }

    /// The preloaded library that waits, and the caller.
    private static let parts = Task {
        let folder = try TemporaryFolder()
        try await CompiledProgram.make(folder.file("warm.so"), of: "warm-start.c", ["-shared", "-fPIC"])
        try await CompiledProgram.make(folder.file("caller"), of: "warm-start.c", ["-DCALLER"])
        return folder
    }

    private nonisolated func link() async throws -> Running {
        let folder = try await Self.parts.value
        let socket = folder.file(name)
        let words = ["LD_PRELOAD=\(folder.file("warm.so"))", "WARM_SOCKET=\(socket)", name]
        return Running(process: try await ChildProcess("env", words), caller: folder.file("caller"), socket: socket)
    }
}
