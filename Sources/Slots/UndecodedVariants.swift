import Glibc
package import JobSchema
import Lifecycle

/// The variants of codecs that the libav of this installation does not decode.
package enum UndecodedVariants {
    /// Asks `respool-transcode`, the only program that has libav.
    package static func list() async throws(Failure) -> [String] {
        let program = Spawner.Program(
            path: try Programs.path("respool-transcode"), arguments: ["undecoded"],
            environment: Child.inheritedEnvironment())
        do { return try await lines(of: program) } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "respool-transcode cannot be started: \(error)")
        }
    }

    private static func lines(of program: Spawner.Program) async throws -> [String] {
        var pipe = try OutputPipe()
        let output = pipe.reader.take()!
        let writer = pipe.writer.take()!
        let pid = try await Spawner.shared.spawn(program, descriptors: [-1, writer.number, -1])
        let status: CInt = await withCheckedContinuation { continuation in
            startThread {
                var status: CInt = -1
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        guard status == 0 else { throw Failure(.internal, "respool-transcode failed: install respool again") }
        // The kernel has room for them.
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(output.number, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
