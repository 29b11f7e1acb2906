import Foundation
import Glibc
import Lifecycle
import Testing

/// What concerns the whole process, each in a process of its own.
@Suite struct ProcessTests {
    @Test func `the stream yields every signal that is sent after it is made`() async {
        await #expect(processExitsWith: .success) {
            let signals = await Signals.stream(of: [SIGTERM, SIGINT])
            kill(getpid(), SIGTERM)
            var iterator = signals.makeAsyncIterator()
            let first = await iterator.next()
            kill(getpid(), SIGINT)
            let second = await iterator.next()
            precondition(first == SIGTERM && second == SIGINT)
        }
    }

    @Test func `a write to a closed pipe is an error`() async {
        await #expect(processExitsWith: .success) {
            Signals.ignoreBrokenPipes()
            var ends: [CInt] = [0, 0]
            precondition(pipe(&ends) == 0)
            close(ends[0])
            precondition(write(ends[1], "x", 1) == -1 && errno == EPIPE)
        }
    }

    @Test func `a signal that the parent ignores is detected`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGHUP, SIG_DFL)
            precondition(!Signals.isIgnored(SIGHUP))
            signal(SIGHUP, SIG_IGN)
            precondition(Signals.isIgnored(SIGHUP))
        }
    }

    @Test func `a child process inherits its two descriptors and nothing else`() async {
        await #expect(processExitsWith: .success) {
            var ends: [CInt] = [0, 0]
            // Without close-on-exec, as a library's careless descriptor would be.
            precondition(pipe(&ends) == 0 && dup2(ends[1], 40) == 40)
            let reading = Descriptor(owning: ends[0])
            let program = Spawner.Program(
                path: "/bin/sh", arguments: ["-c", #"exec >&3; echo "$MARK"; exec ls /proc/self/fd"#],
                environment: ["MARK": "set", "PATH": "/usr/bin:/bin"])
            let pid = try await Spawner.shared.spawn(program, descriptors: [-1, -1, STDERR_FILENO, ends[1], ends[0]])
            close(ends[1])
            close(40)
            var status: CInt = 0
            precondition(waitpid(pid, &status, 0) == pid && status == 0)
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(reading.number, &bytes, bytes.count)
            let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
            // The last one is the folder that `ls` reads.
            precondition(lines == ["set", "0", "1", "2", "3", "4", "5"], "\(lines)")
        }
    }

    @Test func `a program that cannot be started is reported with the reason`() async {
        let program = Spawner.Program(path: "/nowhere/respool", arguments: [], environment: [:])
        await #expect(throws: Errno(rawValue: ENOENT)) {
            _ = try await Spawner.shared.spawn(program, descriptors: [-1, -1, -1])
        }
    }

    @Test func `a descriptor is closed with its owner unless it was released`() async {
        await #expect(processExitsWith: .success) {
            let file = open("/dev/null", O_RDONLY)
            do {
                let owner = Descriptor(owning: file)
                let copy = try owner.duplicate()
                precondition(fcntl(copy.number, F_GETFD) == FD_CLOEXEC)
            }
            precondition(fcntl(file, F_GETFD) == -1)
            let kept = Descriptor(owning: open("/dev/null", O_RDONLY)).release()
            precondition(fcntl(kept, F_GETFD) != -1)
        }
    }
}
