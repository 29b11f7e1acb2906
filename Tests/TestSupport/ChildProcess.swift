import FoundationEssentials
package import Glibc
package import Lifecycle
import Synchronization

/// A program started by a test, which dies with it; what it writes is collected as it comes.
///
/// Nothing here blocks a task: each child has threads of its own that read and wait.
package final class ChildProcess: Sendable {
    /// What the child reads.
    package enum Input: Sendable {
        case none
        case bytes([UInt8])
        /// A pipe that `write` fills and `closeInput` ends.
        case open
    }

    package let pid: pid_t
    let state: ChildState
    private let input: Mutex<CInt>

    /// Starts the program (a path, or a name found through `PATH`); `environment` is added to the test's own.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: String? = nil,
        input: Input = .none
    ) async throws(Errno) {
        // setpriv and env become the program itself, so the process id is the program's.
        let place = folder.map { ["env", "--chdir=\($0)"] } ?? []
        let command = ["--pdeathsig", "SIGKILL", "--"] + place + [program] + arguments
        // Keys for S3 are asked for at an address beyond this machine.
        let merged = ProcessInfo.processInfo.environment.merging(["AWS_EC2_METADATA_DISABLED": "true"]) { $1 }
            .merging(environment) { $1 }

        let source: Pipe
        if case .none = input { source = try Pipe(reading: "/dev/null") } else { source = try Pipe() }
        let output = try Pipe()
        let errors = try Pipe()
        pid = try await Spawner.shared.spawn(
            Spawner.Program(path: "setpriv", arguments: command, environment: merged),
            descriptors: [source.reader, output.writer, errors.writer])
        source.closeReader()
        output.closeWriter()
        errors.closeWriter()
        self.input = Mutex(source.writer)
        state = ChildState(pid: pid)
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
        state.kill(SIGKILL)
        let writer = input.withLock { $0.taken() }
        if writer >= 0 { close(writer) }
    }

    /// Runs the program to its end.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], folder: String? = nil,
        input: Input = .none
    ) async throws(Errno) -> Outcome {
        try await ChildProcess(program, arguments, environment: environment, folder: folder, input: input).wait()
    }

    /// Sends the signal, if the child still runs.
    package func kill(_ signal: CInt = SIGKILL) { state.kill(signal) }

    package var isRunning: Bool { state.isRunning }

    /// Waits until the child has ended and its output is read.
    @discardableResult
    package func wait() async -> Outcome {
        let outcome = await state.wait()
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
    /// The descriptor, which is the caller's from now on.
    mutating func taken() -> CInt {
        defer { self = -1 }
        return self
    }
}

/// Writes until all is written or nobody reads.
private func writeAll(_ bytes: [UInt8], to descriptor: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
