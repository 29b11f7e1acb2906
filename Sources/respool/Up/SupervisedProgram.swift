import Glibc
import Lifecycle
import Synchronization

/// A program of `respool up`, which is started again when it ends.
final class SupervisedProgram: Sendable {
    let name: String
    let log: ProgramLog
    private let words: [String]
    private let environment: [String: String]
    private let deathSignal: String
    /// The number of a descriptor that the program inherits, and that outlives this object.
    private let inherited: CInt?
    private let state = Mutex(State())

    private struct State {
        var child: ChildProgram?
        var isStopping = false
    }

    /// Endings within this time in which a program is given up.
    private static let period: Duration = .seconds(60)
    private static let maxEndings = 5
    private static let backoff = Backoff(base: .seconds(1), cap: .seconds(30))

    init(
        _ name: String, _ words: [String], environment: [String: String] = [:], deathSignal: String, logs: String,
        inheriting descriptor: CInt? = nil
    ) {
        self.name = name
        self.words = words
        self.environment = environment
        self.deathSignal = deathSignal
        log = ProgramLog(path: "\(logs)/\(name).log")
        inherited = descriptor
    }

    /// The process id of the running program.
    var pid: pid_t? { state.withLock { $0.child?.pid } }

    /// Starts the program, unless it was stopped before.
    func start() async throws(CommandFailure) {
        guard !state.withLock({ $0.isStopping }) else { return }
        let child = try await ChildProgram.start(
            words, environment: environment, deathSignal: deathSignal, output: log.path, inheriting: inherited)
        let isStopping = state.withLock { state in
            state.child = child
            return state.isStopping
        }
        if isStopping { child.kill(SIGKILL) }
    }

    /// The failure if the program has ended, with the end of its log.
    func fault() -> CommandFailure? {
        guard let ending = state.withLock({ $0.isStopping ? nil : $0.child })?.ending else { return nil }
        let message = "\(name) ended at the start: \(log.tail()); its log is \(log.path)"
        // A program with a setting that it cannot use ends as this one would.
        return ending.exitStatus == ExitStatus.usage.rawValue ? .usage(message) : .failed(message)
    }

    /// Starts the program again whenever it ends, until it is stopped; throws if it ends too often.
    func supervise() async throws(CommandFailure) {
        var endings: [ContinuousClock.Instant] = []
        var failures = 0
        while let child = state.withLock({ $0.isStopping ? nil : $0.child }) {
            let moment = ContinuousClock.now
            let ending = await child.wait()
            let now = ContinuousClock.now
            guard !state.withLock({ $0.isStopping }) else { return }
            endings = endings.filter { now - $0 < Self.period } + [now]
            failures = now - moment < Self.period ? failures + 1 : 1
            guard endings.count < Self.maxEndings else {
                throw .failed(
                    "\(name) ended \(endings.count) times within a minute, the last time with \(ending): \(log.tail()); "
                        + "its log is \(log.path)")
            }
            let pause = Self.backoff.ceiling(afterFailure: failures)
            StandardStream.error("respool: \(name) ended with \(ending); it starts again in \(pause.rounded) s\n")
            try? await Task.sleep(for: pause)
            try await start()
        }
    }

    /// Sends SIGTERM, and SIGKILL after the time limit; returns when the program has ended.
    func stop(within limit: Duration) async {
        let child = state.withLock { state in
            state.isStopping = true
            return state.child
        }
        guard let child else { return }
        child.kill(SIGTERM)
        let end = ContinuousClock.now + limit
        while child.isRunning, .now < end { try? await Task.sleep(for: .milliseconds(20)) }
        child.kill(SIGKILL)
        while child.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Ends the program at once.
    func kill(_ signal: CInt) {
        state.withLock { state in
            state.isStopping = true
            state.child?.kill(signal)
        }
    }
}
