import Glibc
import Lifecycle

/// The variants of codecs that the libav of this installation does not decode.
package enum UndecodedVariants {
    private static let timeoutMilliseconds: CInt = 10_000

    /// Asks `respool-transcode`, the only program that has libav; `nil` if it does not answer.
    package static func list() async -> [String]? {
        guard let (status, text) = try? await run(), status == 0, !text.isEmpty else { return nil }
        return text.split(separator: "\n").map(String.init)
    }

    /// The status of the program, and what it prints.
    private static func run() async throws -> (CInt, String) {
        let program = Spawner.Program(
            path: try Programs.path("respool-transcode"), arguments: ["undecoded"],
            environment: Child.inheritedEnvironment())
        var pipe = try OutputPipe()
        let output = pipe.reader.take()!
        let writer = pipe.writer.take()!
        let pid = try await Spawner.shared.spawn(program, descriptors: [-1, writer.number, -1])
        let number = output.number
        let status: CInt = await withCheckedContinuation { continuation in
            startThread {
                // It prints all at once.
                var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, timeoutMilliseconds) != 1 { kill(pid, SIGKILL) }
                var status: CInt = -1
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        guard status == 0 else { return (status, "") }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(number, &bytes, bytes.count)
        return (status, String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self))
    }
}
