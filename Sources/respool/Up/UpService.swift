import Configuration
import Glibc
import JobSchema
import Jobs
import Lifecycle
import Redis

/// Runs a private Redis, a worker and a server of the HTTP API until a signal or a failure stops them.
struct UpService: Sendable {
    let folder: UpFolder
    let address: ListenAddress

    /// How long Redis may take to load its file, and the others to start.
    private static let startLimit: Duration = .seconds(60)

    /// What ends the service or moves it on.
    private enum Event: Sendable {
        case ready
        case failed(CommandFailure)
        case signal(Int32)
    }

    func run() async throws(CommandFailure) -> ExitStatus {
        // Signal handlers come first, so that a signal leaves nothing behind.
        let signals = await Signals.stream(of: [SIGTERM, SIGINT] + (Signals.isIgnored(SIGHUP) ? [] : [SIGHUP]))
        try folder.create()
        let lock = try await UpLock(folder)
        try lock.write(address: "")
        // After the lock, because another `up` with this folder is likely to have the same port.
        let address = try boundAddress()
        try lock.write(address: url(address))
        let programs = try UpPrograms(folder, address, lock: lock.descriptor.number)
        let (events, send) = AsyncStream.makeStream(of: Event.self)
        Task { for await number in signals { send.yield(.signal(number)) } }
        let beginning = Task {
            do throws(CommandFailure) {
                try await start(programs, address)
                send.yield(.ready)
            } catch {
                send.yield(.failed(error))
            }
        }
        startThread {
            while true {
                sleep(60)
                for program in programs.all { program.log.rotate() }
            }
        }
        let failure = await serve(events, programs, address) { failure in send.yield(.failed(failure)) }
        beginning.cancel()
        if failure == nil {
            StandardStream.output(
                "Stopping: running jobs get \(programs.grace.rounded) s to finish. Another signal stops them at once.\n"
            )
        }
        let impatience = Task {
            for await case .signal(let number) in events {
                for program in programs.all { program.kill(program.name == UpPrograms.redisName ? SIGTERM : SIGKILL) }
                exit(128 + number)
            }
        }
        await programs.stop()
        impatience.cancel()
        withExtendedLifetime(lock) {}
        if let failure { throw failure }
        return .success
    }

    /// Waits for the end; `nil` if it is a signal.
    private func serve(
        _ events: AsyncStream<Event>, _ programs: UpPrograms, _ address: ListenAddress,
        _ fail: @escaping @Sendable (CommandFailure) -> Void
    ) async -> CommandFailure? {
        for await event in events {
            switch event {
            case .ready:
                StandardStream.output(greeting(programs, address))
                for program in programs.all {
                    Task {
                        do throws(CommandFailure) { try await program.supervise() } catch { fail(error) }
                    }
                }
            case .failed(let failure): return failure
            case .signal: return nil
            }
        }
        return nil
    }

    private func start(_ programs: UpPrograms, _ address: ListenAddress) async throws(CommandFailure) {
        try await programs.redis.start()
        let url = try await programs.server.ready(within: Self.startLimit, fault: programs.redis.fault)
        try await programs.worker.start()
        try await programs.api.start()
        let client = RedisClient(url: url, name: "respool-up")
        let queue = JobQueue(client: client, name: programs.queue)
        try await wait(for: programs.worker) {
            let suffix = programs.worker.pid.map { ":\($0):" } ?? ""
            return (try? await queue.workers())?.contains { $0.name.contains(suffix) } ?? false
        }
        await client.close()
        try await wait(for: programs.api) { await ReadinessProbe.isReady(address, hasTLS: hasTLS) }
    }

    private func wait(
        for program: SupervisedProgram, _ isReady: () async -> Bool
    ) async throws(CommandFailure) {
        let end = ContinuousClock.now + Self.startLimit
        while !Task.isCancelled {
            if let fault = program.fault() { throw fault }
            if await isReady() { return }
            guard .now < end else {
                throw .failed(
                    "\(program.name) is not ready within \(Self.startLimit.rounded) s; its log is \(program.log.path)")
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The address with the port that the system chose, if it is 0; throws if something else listens there.
    private func boundAddress() throws(CommandFailure) -> ListenAddress {
        do throws(Errno) {
            let socket = try address.listen()
            return address.with(port: ListenAddress.boundPort(socket.number))
        } catch {
            throw .failed(
                "cannot listen on \(address): \(error); stop what listens there, or give another address with --listen")
        }
    }

    /// Whether the server has a certificate.
    private var hasTLS: Bool { Environment.process.text(Settings.apiCertificate) != nil }

    /// Where browsers of this machine find the page.
    private func url(_ address: ListenAddress) -> String { "http\(hasTLS ? "s" : "")://\(address.reachable)/" }

    private func greeting(_ programs: UpPrograms, _ address: ListenAddress) -> String {
        let secret = programs.secretFile.map { "\n  callbacks are signed with         \($0)" } ?? ""
        return """
            respool is ready at \(url(address))

              outputs, uploads and logs are in  \(folder.path)
              for commands in another terminal  export RESPOOL_REDIS_URL=\(programs.server.address)
              metrics of the queue              \(url(address))metrics
              metrics of the worker             http://\(programs.workerAddress)/metrics\(secret)

            Ctrl-C stops it. Jobs that are unfinished then run at the next start.

            """
    }
}
