import FoundationEssentials
import Lifecycle

/// A program of FFmpeg's that is linked once for all of its runs: to link it takes longer than most of what tests ask of it.
package actor WarmProgram {
    package static let ffmpeg = WarmProgram("ffmpeg")
    package static let ffprobe = WarmProgram("ffprobe")

    private let name: String
    private var running: Task<Running, any Error>?

    /// What waits to be forked, and how it is called.
    private struct Running {
        let process: ChildProcess
        let folder: TemporaryFolder
        let caller: String
        let socket: String
    }

    private init(_ name: String) { self.name = name }

    /// Runs the program to its end.
    package func run(_ arguments: [String], folder: String? = nil) async throws -> Outcome {
        let linking = running ?? Task { try await link() }
        running = linking
        let warm = try await linking.value
        return try await ChildProcess.run(warm.caller, [warm.socket, name] + arguments, folder: folder)
    }

    private nonisolated func link() async throws -> Running {
        let folder = try TemporaryFolder()
        let (library, caller, socket) = (folder.file("warm.so"), folder.file("caller"), folder.file("socket"))
        try await CompiledProgram.make(library, of: "warm-start.c", ["-shared", "-fPIC"])
        try await CompiledProgram.make(caller, of: "warm-start.c", ["-DCALLER"])
        let process = try await ChildProcess("env", ["LD_PRELOAD=\(library)", "WARM_SOCKET=\(socket)", name])
        return Running(process: process, folder: folder, caller: caller, socket: socket)
    }
}
