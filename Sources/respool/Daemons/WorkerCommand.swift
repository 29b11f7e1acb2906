import Configuration
import Glibc
import Lifecycle

extension Command {
    static let worker = Command(
        "worker", "takes jobs and converts them until it is stopped",
        details: [
            "The first SIGTERM, SIGINT or SIGHUP drains the worker: it takes no more "
                + "jobs, and jobs that are unfinished at the end of the grace period return "
                + "to the queue without using up an attempt. The second signal stops it immediately."
        ],
        options: [
            .redis, WorkerOptions.queues, WorkerOptions.slots, WorkerOptions.grace, WorkerOptions.listen,
            WorkerOptions.sourceRoot,
            WorkerOptions.outputRoot, WorkerOptions.spoolFolder, .allowHost, .allowOutputHost, WorkerOptions.maxCrashes,
            WorkerOptions.callbackSecretFile, WorkerOptions.check,
        ],
        settings: Settings.all,
        examples: [
            .init(
                line: "respool worker --source-root /srv/in --output-root /srv/out",
                meaning: "converts files under /srv/in and sources from the network, one job per core"),
            .init(
                line: "respool worker --check",
                meaning: "health check: exits with 1 if a worker of this machine does not respond"),
        ]
    ) { arguments throws(CommandFailure) in
        try WorkerOptions.export(arguments)
        try SiblingProgram.become("respoold", ["worker"] + (arguments.has(WorkerOptions.check) ? ["--check"] : []))
    }

    static let serve = Command(
        "serve", "serves the HTTP API until it is stopped",
        details: [
            "The API is at http://ADDRESS:PORT/v1/, and its OpenAPI document at /v1/openapi.json. Without a file "
                + "of tokens it is served on loopback only, to everybody on this machine. While it runs, due jobs and "
                + "schedules are pushed also if there is no worker."
        ],
        options: [
            .redis,
            Option(
                "queue", value: "NAMES", "the queues that are served, separated by `,`; the first is the default",
                setting: Settings.queue),
            Option(
                "listen", letter: "l", value: "ADDRESS:PORT", "address and port to listen on",
                fallback: "127.0.0.1:8080",
                setting: Settings.listen),
            ServeOptions.tokens, ServeOptions.certificate, ServeOptions.key,
        ],
        settings: [
            Settings.apiHosts, Settings.apiBasePath, Settings.apiProxies, Settings.outputRoot, Settings.uploadFolder,
            Settings.uploadMaxBytes, Settings.uploadAge,
            Settings.log,
        ],
        examples: [
            .init(
                line: "curl -d '{\"source\": \"https://example.org/a.flac\", \"format\": \"mp3\"}' \\",
                meaning: "-H 'Content-Type: application/json' http://127.0.0.1:8080/v1/jobs pushes a job")
        ]
    ) { arguments throws(CommandFailure) in
        try WorkerOptions.export(arguments)
        try ServeOptions.export(arguments)
        try SiblingProgram.become("respoold", ["serve"])
    }
}

enum ServeOptions {
    static let tokens = Option(
        "tokens", value: "FILE", "file of tokens, each with its role: see docs/how-to/serve.md",
        setting: Settings.apiTokens, suggestion: .files)
    static let certificate = Option(
        "tls-certificate", value: "FILE", "serves TLS with the certificate and those of its issuers, in PEM",
        setting: Settings.apiCertificate, suggestion: .files)
    static let key = Option(
        "tls-key", value: "FILE", "the private key of the certificate, in PEM", setting: Settings.apiKey,
        suggestion: .files)

    /// Sets the environment of this process.
    static func export(_ arguments: Arguments) throws(CommandFailure) {
        for option in [tokens, certificate, key] {
            guard let path = arguments.given(option).last, let setting = option.setting else { continue }
            setenv(setting.name, try arguments.existingPath(path, of: option), 1)
        }
    }
}

/// The worker's settings, which are passed to `respoold` as environment variables.
enum WorkerOptions {
    static let queues = Option(
        "queue", value: "NAMES", "the queues: a,b by strict priority, or a:3,b:1 by weight", setting: Settings.queue)
    static let slots = Option(
        "slots", letter: "s", value: "N", "number of concurrent conversions, 1 to 1024",
        setting: Settings.slots)
    static let grace = Option(
        "grace", value: "SECONDS", "grace period of running jobs after the first signal",
        setting: Settings.grace)
    static let listen = Option(
        "listen", letter: "l", value: "ADDRESS:PORT", "serves /healthz, /readyz and /metrics at this address",
        setting: Settings.listen)
    static let sourceRoot = Option(
        "source-root", value: "DIR",
        "allowed root of file:/// sources; the variable takes several, separated by `:`",
        setting: Settings.sourceRoots, suggestion: .folders, isRepeatable: true)
    static let outputRoot = Option(
        "output-root", value: "DIR", "output root, the folder of the results, or none: jobs write only to URLs",
        setting: Settings.outputRoot,
        suggestion: .folders)
    static let spoolFolder = Option(
        "spool-dir", value: "DIR",
        "folder of temporary files for sources from the network and outputs for stores and URLs",
        setting: Settings.spoolFolder, suggestion: .folders)
    static let maxCrashes = Option(
        "max-crashes", value: "N", "number of crashes after which a job fails",
        setting: Settings.maxCrashes)
    static let callbackSecretFile = Option(
        "callback-secret-file", value: "FILE",
        "signing secret of callbacks: whsec_ and Base64; two during a rotation", setting: Settings.callbackSecretFile,
        suggestion: .files)
    static let check = Option("check", "only checks the workers of this machine")

    /// Validates the given options and sets the environment of this process.
    static func export(_ arguments: Arguments) throws(CommandFailure) {
        for option in [slots, maxCrashes, grace] { try arguments.check(option) }
        if let address = arguments.given(listen).last, ListenAddress(address) == nil {
            throw .usage(SettingError("--listen", is: address, expected: Settings.listen.expected).message)
        }
        for option in [slots, grace, listen, maxCrashes, queues, .redis] {
            if let value = arguments.given(option).last { set(option, value) }
        }
        for option in [outputRoot, spoolFolder, callbackSecretFile] {
            guard let path = arguments.given(option).last else { continue }
            let isNone = option.name == outputRoot.name && path == Settings.noFolder
            set(option, isNone ? path : try arguments.existingPath(path, of: option))
        }
        let roots = arguments.given(sourceRoot)
        if let root = roots.first(where: { $0.contains(":") }) {
            throw .usage("--source-root is '\(root)': a source root must not contain a colon")
        }
        if !roots.isEmpty {
            var paths: [String] = []
            for root in roots { paths.append(try arguments.existingPath(root, of: sourceRoot)) }
            set(sourceRoot, paths.joined(separator: ":"))
        }
        for option in [Option.allowHost, .allowOutputHost] {
            let hosts = try arguments.hosts(option)
            if !hosts.isEmpty { set(option, hosts.joined(separator: ",")) }
        }
    }

    private static func set(_ option: Option, _ value: String) { setenv(option.setting!.name, value, 1) }
}
