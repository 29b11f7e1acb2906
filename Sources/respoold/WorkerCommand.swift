import Configuration
import Glibc
import HTTPServer
import JobSchema
import Jobs
import Lifecycle
import MediaTypes
import Redis
import SlotIPC
import Slots
import Worker

/// `respoold worker`: processes jobs until a signal ends it.
enum WorkerCommand {
    /// Seconds after an immediate stop at which the process exits in any case.
    private static let lastGrace: UInt32 = 5
    /// With one heartbeat per second, a server that stops replying is detected within 3 s.
    private static let answerTimeout: Duration = .seconds(2)

    static func run() async -> ExitCode {
        // Signal handlers come first, so that a signal leaves nothing behind.
        let signals = await Signals.stream(of: [SIGTERM, SIGINT] + (Signals.isIgnored(SIGHUP) ? [] : [SIGHUP]))
        Signals.ignoreBrokenPipes()
        let examined = Monitor<String?>(nil)
        let settings: WorkerSettings?
        do throws(SettingError) { settings = try await WorkerSettings.read(.process, examined: examined) } catch {
            StandardError.write(error.message)
            return .usage
        }
        guard let settings else {
            let folder = examined.read(\.self)
            StandardError.write(
                folder.map { "\(FolderProblem.noResponse(of: $0))" }
                    ?? "the file system of a file in the settings does not respond: check its server, or mount it again"
            )
            return .failure
        }
        return await run(settings, signals: signals)
    }

    /// The setting with a similar name. The common prefix is not compared, because it makes every name similar.
    private static func nearestSetting(to name: String) -> String? {
        let prefix = "RESPOOL_"
        let names = Settings.all.map(\.name).filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        return Spelling.nearest(to: String(name.dropFirst(prefix.count)), among: names).map { prefix + $0 }
    }

    private static func run(_ settings: WorkerSettings, signals: AsyncStream<Int32>) async -> ExitCode {
        let log = Log(least: settings.level)
        let metrics = Metrics()
        let names = settings.worker.queues.names
        // One client per queue, because in a cluster queues are on different nodes.
        func clients(_ label: String) -> [RedisClient] {
            names.map {
                RedisClient(url: settings.redis, name: label, key: QueueKeys($0).meta, timeout: answerTimeout)
            }
        }
        // Without a wait for replicas, publications use the other clients.
        let (clients, claims, publications) = (
            clients("respool-worker"), clients("respool-claims"),
            settings.replicas == nil ? [] : clients("respool-publish")
        )
        let bells = names.map {
            BlockingRedisClient(url: settings.redis, name: "respool-bell", key: QueueKeys($0).meta)
        }
        let queues = names.indices.map {
            JobQueue(
                client: clients[$0], claims: claims[$0],
                publications: settings.replicas == nil ? nil : publications[$0],
                replicas: settings.replicas, name: names[$0], settings: settings.settings)
        }
        let worker = JobWorker(
            queues: zip(queues, bells).map { ($0, Doorbell(client: $1, name: $0.name)) },
            configuration: settings.worker, metrics: WorkerMetrics(metrics), log: log)
        let listener: HTTPListener?
        do throws(Errno) { listener = try listen(settings, worker.health, metrics, log) } catch {
            StandardError.write("cannot listen on \(settings.listen!) (RESPOOL_LISTEN): \(error)")
            return .failure
        }
        for sentence in settings.worker.configurationWarnings { log.warning(sentence) }
        for name in Environment.unknownNames {
            guard let nearest = nearestSetting(to: name) else { continue }
            log.warning("unknown setting", ["name": name, "nearest": nearest])
        }
        for port in settings.openPorts {
            log.warning(
                "Redis uses port \(port), which respool-transfer may connect to for sources and outputs: give Redis another port"
            )
        }
        if settings.worker.callbackSecrets == nil {
            log.info("RESPOOL_CALLBACK_SECRET is not set, so this worker sends no callbacks")
        }
        let notifier = ServiceNotifier(
            .process, log: log, isAlive: { worker.health.isAlive }, status: { worker.health.summary })
        let obedience = Task { await obey(signals, worker, notifier) }
        let check = Task {
            let isWelcome = await ServerCheck(queues: queues, log: log).run()
            if !isWelcome { await worker.stop() }
            return isWelcome
        }
        let isRequired = settings.worker.slot.sandbox == .require
        let admission = Task {
            let isAdmitted = await PasswordCheck(url: settings.redis, isRequired: isRequired, log: log).run()
            if !isAdmitted { await worker.stop() }
            return isAdmitted
        }
        let code = await run(worker, once: isRequired ? admission : nil, notifier, log)
        notifier.stopping()
        for task in [check, admission] { task.cancel() }
        obedience.cancel()
        let (isWelcome, isAdmitted) = (await check.value, await admission.value)
        // The blocking clients close before the others.
        for bell in bells { await bell.close() }
        for client in clients + claims + publications { await client.close() }
        await notifier.close()
        withExtendedLifetime(listener) {}
        guard isAdmitted else { return .failure }
        return isWelcome ? code : .redis
    }

    private static func run(
        _ worker: JobWorker, once admission: Task<Bool, Never>?, _ notifier: ServiceNotifier, _ log: Log
    ) async -> ExitCode {
        do throws(Failure) {
            let end = try await worker.run(heartbeatFile: heartbeatFile(log), once: admission) { notifier.ready() }
            return end == .drained ? .success : .failure
        } catch {
            log.error("the worker cannot start: \(error.message)")
            return .failure
        }
    }

    private static func heartbeatFile(_ log: Log) -> HeartbeatFile? {
        do throws(Errno) { return try HeartbeatFile(nonce: Nonce.random()) } catch {
            log.warning(
                "`worker --check` will not find this worker: no file can be created in \(HeartbeatFile.folder): \(error)"
            )
            return nil
        }
    }

    private static func listen(
        _ settings: WorkerSettings, _ health: WorkerHealth, _ metrics: Metrics, _ log: Log
    ) throws(Errno) -> HTTPListener? {
        guard let address = settings.listen else { return nil }
        let gauges = WorkerMetrics(metrics)
        let routes = WorkerRoutes.routes(health: health, metrics: metrics) { gauges.measure() }
        let listener = try HTTPListener(on: address, service: routes)
        log.info("listening", ["address": address.path ?? address.host, "port": listener.port])
        return listener
    }

    /// The first signal drains the worker, the second stops it immediately, and the third exits the process.
    private static func obey(_ signals: AsyncStream<Int32>, _ worker: JobWorker, _ notifier: ServiceNotifier) async {
        var count = 0
        for await _ in signals {
            count += 1
            switch count {
            case 1:
                await worker.drain()
                notifier.stopping()
            case 2:
                // Ensures that the process ends even if something hangs.
                startThread {
                    sleep(lastGrace)
                    _exit(ExitCode.failure.rawValue)
                }
                Task { await worker.stop() }
            default: _exit(ExitCode.failure.rawValue)
            }
        }
    }
}
