import FoundationEssentials
package import Glibc
package import Lifecycle
import Synchronization

/// A program started by a test, which is killed when the test process ends. Its output is collected while it runs.
///
/// Nothing here blocks a task: each child has separate threads that read its output and wait for its end.
package final class ChildProcess: Sendable {
    /// The child's standard input.
    package enum Input: Sendable {
        case none
        case bytes([UInt8])
        /// A pipe that `write` writes to and `closeInput` closes.
        case open
    }

    package let pid: pid_t
    let state: ChildState
    private let input: Mutex<CInt>

    /// Starts the program, which is a path or a name searched in `PATH`. `environment` is added to the environment of the test.
    ///
    /// `isBound` says that the program itself sees to it that it does not outlive the test process.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: String? = nil,
        input: Input = .none, isBound: Bool = false
    ) async throws(Errno) {
        // setpriv and env execute the program, so the process id is the program's.
        let binding = isBound ? [] : ["setpriv", "--pdeathsig", "SIGKILL", "--"]
        let place = folder.map { ["env", "--chdir=\($0)"] } ?? []
        let command = binding + place + [program] + arguments
        let inherited = ProcessInfo.processInfo.environment
        // Requests for S3 keys would go to an address outside this machine. Debian's programs come first: the `python3` of a version
        // manager is a shell script that takes longer than most programs of the tests.
        let common = ["AWS_EC2_METADATA_DISABLED": "true", "PATH": "/usr/bin:" + (inherited["PATH"] ?? "/bin")]
        let merged = inherited.merging(common) { $1 }.merging(environment) { $1 }

        let source: Pipe
        if case .none = input { source = try Pipe(reading: "/dev/null") } else { source = try Pipe() }
        let output = try Pipe()
        let errors = try Pipe()
        pid = try await Spawner.shared.spawn(
            Spawner.Program(path: command[0], arguments: Array(command.dropFirst()), environment: merged),
            descriptors: [source.reader, output.writer, errors.writer])
        source.closeReader()
        output.closeWriter()
        errors.closeWriter()
        self.input = Mutex(source.writer)
        state = ChildState(pid: pid, command: ([program] + arguments).joined(separator: " "))
        StartedProcesses.current?.add(state)
        state.collect(output: output.reader, errors: errors.reader)
        if case .bytes(let bytes) = input {
            let writer = self.input.withLock { $0.taken() }
            startThread {
                writeAll(bytes, to: writer)
                close(writer)
            }
        }
    }

    deinit {
        state.release()
        let writer = input.withLock { $0.taken() }
        if writer >= 0 { close(writer) }
    }

    /// Runs the program to its end, and kills it after five minutes, so that a program that does not end fails one test only.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: String? = nil,
        input: Input = .none, isBound: Bool = false
    ) async throws(Errno) -> Outcome {
        let child = try await ChildProcess(
            program, arguments, environment: environment, folder: folder, input: input, isBound: isBound)
        let alarm = Task {
            guard (try? await Task.sleep(for: .seconds(300))) != nil else { return }
            child.kill()
        }
        defer { alarm.cancel() }
        return await child.wait()
    }

    /// Sends the signal if the child is still running.
    package func kill(_ signal: CInt = SIGKILL) { state.kill(signal) }

    package var isRunning: Bool { state.isRunning }

    /// Waits until the child has ended and its output has been read. A cancelled test, whose time is over, kills the child.
    @discardableResult
    package func wait() async -> Outcome {
        let outcome = await withTaskCancellationHandler {
            await state.wait()
        } onCancel: {
            state.kill(SIGKILL)
        }
        return withExtendedLifetime(self) { outcome }
    }

    /// What the child has written to standard output so far.
    package var output: String { state.text.output }

    /// What the child has written to standard error so far.
    package var errors: String { state.text.errors }

    /// Writes to the child's standard input, which must be `.open`.
    package func write(_ text: String) async {
        let writer = input.withLock { $0 }
        await withCheckedContinuation { (written: CheckedContinuation<Void, Never>) in
            startThread {
                writeAll(Array(text.utf8), to: writer)
                written.resume()
            }
        }
    }

    /// Ends the child's standard input.
    package func closeInput() {
        let writer = input.withLock { $0.taken() }
        if writer >= 0 { close(writer) }
    }
}

private extension CInt {
    /// Takes the descriptor; the caller then owns it.
    mutating func taken() -> CInt {
        defer { self = -1 }
        return self
    }
}

/// Writes until everything is written or the reader has closed the pipe.
func writeAll(_ bytes: [UInt8], to descriptor: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
