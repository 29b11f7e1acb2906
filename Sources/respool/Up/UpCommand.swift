import Configuration
import Glibc
import Lifecycle

extension Command {
    static let up = Command(
        "up", "runs everything on this machine: a private Redis, a worker, the HTTP API",
        details: [
            "Starts a redis-server on a Unix socket, a worker and a server of the HTTP API, and prints the address once "
                + "they are ready. Jobs, uploads, outputs and logs are in one folder, so the next start continues where "
                + "this one ends. A program that ends unexpectedly is started again. SIGTERM, SIGINT or SIGHUP stops the "
                + "server, then the worker, whose running jobs get their grace period, and then Redis. The second signal "
                + "stops them at once."
        ],
        options: [
            Option(
                "listen", letter: "l", value: "ADDRESS:PORT", "address and port of the HTTP API",
                fallback: UpOptions.address, setting: Settings.listen),
            UpOptions.folder, WorkerOptions.slots, ServeOptions.tokens, ServeOptions.certificate, ServeOptions.key,
        ],
        settings: Settings.all.filter { $0.name != Settings.redisURL.name },
        examples: [
            .init(line: "respool up", meaning: "serves http://127.0.0.1:8080/"),
            .init(
                line: "respool up --listen 0.0.0.0:8080 --tokens tokens --data /srv/respool",
                meaning: "serves other machines too, which need a token"),
        ]
    ) { arguments throws(CommandFailure) in
        try WorkerOptions.export(arguments)
        try ServeOptions.export(arguments)
        let address = try UpOptions.listenAddress()
        let missing = [InstalledProgram.redisServer, .setpriv].filter { !$0.isInstalled }
        guard missing.isEmpty else {
            throw InstalledProgram.missing(missing.map { ($0.name, $0.package) }, for: "`respool up`")
        }
        return try await UpService(folder: try UpFolder(arguments), address: address).run()
    }
}

enum UpOptions {
    static let address = "127.0.0.1:8080"
    static let folder = Option(
        "data", value: "DIR", "folder of jobs, uploads, outputs and logs", setting: Settings.upFolder,
        suggestion: .folders)

    /// The address of the HTTP API. Other machines reach it only with tokens.
    static func listenAddress() throws(CommandFailure) -> ListenAddress {
        let text = Environment.process.text(Settings.listen) ?? address
        guard let address = ListenAddress(text) else { throw .usage(Settings.listen.error(text).message) }
        guard address.path == nil else {
            throw .usage(
                "'\(address)' is a Unix socket, on which no browser finds the page: give an address as 127.0.0.1:8080")
        }
        guard address.isLoopback || Environment.process.text(Settings.apiTokens) != nil else {
            throw .usage(
                "other machines reach the address '\(address)': give tokens with --tokens or \(Settings.apiTokens.name), "
                    + "or listen on 127.0.0.1")
        }
        return address
    }
}
