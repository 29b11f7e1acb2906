import Configuration
import JobSchema
import Jobs
import Lifecycle

/// The programs that `respool up` runs.
struct UpPrograms: Sendable {
    static let redisName = "redis-server"

    let server: PrivateRedis
    let redis: SupervisedProgram
    let worker: SupervisedProgram
    let api: SupervisedProgram
    /// Where the worker serves its metrics.
    let workerAddress: ListenAddress
    /// The file with the secret of callbacks; `nil` if the user has set another one.
    let secretFile: String?
    /// The first queue that the worker serves.
    let queue: QueueName
    /// How long running jobs may continue when the worker stops.
    let grace: Duration

    /// In the order of the start.
    var all: [SupervisedProgram] { [redis, worker, api] }

    init(_ folder: UpFolder, _ address: ListenAddress, lock: CInt) throws(CommandFailure) {
        server = PrivateRedis(socket: folder.socket, folder: folder.redis, isDurable: true)
        let environment = folder.environment(redis: server.address)
        workerAddress = try Self.workerAddress(besides: address)
        secretFile = try folder.secretFile()
        var own = [Settings.listen.name: "\(workerAddress)"]
        if let secretFile { own[Settings.callbackSecretFile.name] = secretFile }
        let respoold = try SiblingProgram.path("respoold")
        redis = SupervisedProgram(
            Self.redisName, server.words, deathSignal: "TERM", logs: folder.logs, inheriting: lock)
        worker = SupervisedProgram(
            "worker", [respoold, "worker"], environment: environment.merging(own) { $1 },
            deathSignal: "KILL", logs: folder.logs)
        api = SupervisedProgram(
            "serve", [respoold, "serve"],
            environment: environment.merging([Settings.listen.name: "\(address)"]) { $1 }, deathSignal: "KILL",
            logs: folder.logs)
        do throws(SettingError) {
            grace = try Environment.process.value(Settings.grace) ?? .seconds(25)
        } catch {
            throw .usage(error.message)
        }
        let names = Environment.process.text(Settings.queue) ?? QueueName.default.text
        do throws(Failure) { queue = try QueueName(String(names.prefix { $0 != "," && $0 != ":" })) } catch {
            throw .usage(error.message)
        }
    }

    /// The address on loopback with the port of the HTTP API plus 1000, or with any free one if that is taken.
    private static func workerAddress(besides address: ListenAddress) throws(CommandFailure) -> ListenAddress {
        let preferred = Int(address.port) + 1000
        for port in [preferred <= Int(UInt16.max) ? UInt16(preferred) : 0, 0] {
            guard let candidate = ListenAddress("127.0.0.1:\(port)"), let socket = try? candidate.listen() else {
                continue
            }
            return candidate.with(port: ListenAddress.boundPort(socket.number))
        }
        throw .failed("no port is free on 127.0.0.1 for the metrics of the worker")
    }

    /// Stops the server, then the worker after its jobs, then Redis, which writes its file.
    func stop() async {
        await api.stop(within: .seconds(10))
        await worker.stop(within: grace + .seconds(15))
        await redis.stop(within: .seconds(30))
    }
}
