import Glibc
import TestSupport
import Testing

@Suite(.failureReport, .timeLimit(.minutes(5))) struct TestSupportTests {
    @Test func `what a test process starts dies with it`() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let server = try await RedisServer()
            print("\nkilled \(server.pid) \(server.folder.path)")
            fflush(nil)
            raise(SIGKILL)
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("killed ") }).split(separator: " ")
        let pid = try #require(pid_t(line[1]))
        try await eventually("the server is gone") { !runs(pid) }
        _ = try await ChildProcess.run("rm", ["-r", String(line[2])])
    }

    @Test func `a program runs with arguments, variables, a folder and input`() async throws {
        let folder = try TemporaryFolder()
        let script = #"cat; echo "$1 $KIND" >&2; pwd; exit 3"#
        let outcome = try await ChildProcess.run(
            "sh", ["-c", script, "sh", "an argument"], environment: ["KIND": "variable"], folder: folder.path,
            input: .bytes(Array("input\n".utf8)))
        #expect(outcome.output == "input\n\(folder.path)\n")
        #expect(outcome.errors == "an argument variable\n")
        #expect(outcome.exitCode == 3)
    }

    @Test func `a running child can be written to, read and killed`() async throws {
        let child = try await ChildProcess("cat", input: .open)
        await child.write("one\n")
        try await eventually("an echo") { child.output == "one\n" }
        child.kill(SIGTERM)
        #expect(await child.wait().termination == .signalled(SIGTERM))
        #expect(!child.isRunning)

        let reader = try await ChildProcess("cat", input: .open)
        reader.closeInput()
        #expect(await reader.wait().exitCode == 0)
    }

    @Test func `a folder is removed with everything in it`() throws {
        var folder: TemporaryFolder? = try TemporaryFolder()
        let path = try #require(folder).write("file", text: "text")
        #expect(access(path, F_OK) == 0)
        folder = nil
        #expect(access(path, F_OK) != 0)
    }

    /// Whether the process is there and no zombie.
    private func runs(_ pid: pid_t) -> Bool {
        guard let file = fopen("/proc/\(pid)/stat", "r") else { return false }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = fread(&buffer, 1, buffer.count, file)
        return !String(decoding: buffer[..<count], as: UTF8.self).contains(") Z ")
    }
}
