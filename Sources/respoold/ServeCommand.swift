import Configuration
import Crypto
import Glibc
import HTTPAPI
import HTTPServer
import Jobs
import Lifecycle
import Redis

/// `respoold serve`: serves the HTTP API until a signal ends it.
enum ServeCommand {
    private static let answerTimeout: Duration = .seconds(3)

    static func run() async -> ExitCode {
        let signals = await Signals.stream(of: [SIGTERM, SIGINT] + (Signals.isIgnored(SIGHUP) ? [] : [SIGHUP]))
        Signals.ignoreBrokenPipes()
        // Each connection and stream takes one; the usual limit is 1,024.
        raiseDescriptorLimit()
        // A thousand streams come and go: with a heap for each thread, what they leave is not used again.
        Heap.useOne()
        let settings: ServeSettings
        do throws(SettingError) { settings = try ServeSettings(.process) } catch {
            StandardError.write(error.message)
            return .usage
        }
        return await run(settings, signals)
    }

    private static func run(_ settings: ServeSettings, _ signals: AsyncStream<Int32>) async -> ExitCode {
        let log = Log(least: settings.level)
        // One client per queue, because in a cluster queues are on different nodes.
        func clients(_ label: String) -> [RedisClient] {
            settings.names.map {
                RedisClient(url: settings.redis, name: label, key: QueueKeys($0).meta, timeout: answerTimeout)
            }
        }
        let clients = clients("respool-serve")
        let queues = zip(settings.names, clients).map { name, client in
            JobQueue(client: client, replicas: settings.replicas, name: name)
        }
        let housekeeping = Housekeeping(
            queues: queues, uploads: settings.uploads, previews: settings.previews, log: log)
        let hubs = queues.map { EventHub(queue: $0, log: log) }
        let feeds = settings.names.map {
            BlockingRedisClient(url: settings.redis, name: "respool-events", key: QueueKeys($0).meta)
        }
        let metrics = ServerMetrics(queues: queues, hubs: hubs)
        let service = APIService(
            queues: queues, hubs: hubs, address: settings.listen, tokens: settings.tokens, hosts: settings.hosts,
            outputs: settings.outputs, uploads: settings.uploads, previews: settings.previews, proxy: settings.proxy,
            log: log, metrics: metrics
        ) { housekeeping.isReady }
        let listener: HTTPListener
        do throws(Errno) {
            listener = try HTTPListener(
                on: settings.listen, service: MeasuredService(service, metrics, basePath: settings.proxy.base),
                limits: settings.limits, threads: 4, certificate: settings.certificate)
        } catch {
            StandardError.write("cannot listen on \(settings.listen) (RESPOOL_LISTEN): \(error)")
            return .failure
        }
        log.info(
            "serving the HTTP API",
            [
                "address": settings.listen.path ?? settings.listen.host, "port": listener.port,
                "scheme": settings.certificate == nil ? "http" : "https",
                "access": settings.tokens == nil ? "everybody on this machine" : "tokens",
            ])
        if settings.uploads != nil, settings.previews == nil {
            log.warning("no previews are made: this process cannot write to the folder previews in RESPOOL_UPLOAD_DIR")
        }
        let counting = Task { await metrics.start() }
        let hasTLS = settings.certificate != nil
        let address = settings.listen.path == nil ? settings.listen.with(port: listener.port) : settings.listen
        // Any answer shows that the listener's thread runs, also one of a server that is overloaded.
        let notifier = ServiceNotifier(
            .process, log: log, isAlive: { (try? address.status(of: "/healthz", hasTLS: hasTLS)) != nil },
            status: { housekeeping.isReady ? "serving on \(address)" : "serving on \(address); Redis does not respond" }
        )
        let maintenance = Task { await housekeeping.run() }
        let renewal = settings.certificate.map { files in
            Task { await CertificateRenewal(files: files, log: log).run() }
        }
        let events = zip(hubs, feeds).map { hub, client in
            Task { await hub.run(EventFeed(client: client, name: hub.queue.name)) }
        }
        notifier.ready()
        for await _ in signals { break }
        notifier.stopping()
        // A second signal ends the process at once.
        let impatience = Task {
            for await _ in signals { _exit(ExitCode.failure.rawValue) }
        }
        log.info("stopping")
        await listener.close()
        counting.cancel()
        maintenance.cancel()
        renewal?.cancel()
        for task in events { task.cancel() }
        await counting.value
        await maintenance.value
        await renewal?.value
        for task in events { await task.value }
        for feed in feeds { await feed.close() }
        for client in clients { await client.close() }
        await notifier.close()
        impatience.cancel()
        return .success
    }
}
