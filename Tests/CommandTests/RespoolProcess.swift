import FoundationEssentials
import TestSupport

/// Runs `respool` as a shell would, without the settings of whoever runs the tests.
struct RespoolProcess {
    var environment: [String: String] = [:]
    var folder: String?

    init(_ server: RedisServer? = nil, environment: [String: String] = [:], folder: String? = nil) {
        self.folder = folder
        let clean = ["RESPOOL_QUEUE": "", "NO_COLOR": "", "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"]
        let url = server.map { "unix://\($0.socket)" } ?? ""
        self.environment = clean.merging(["RESPOOL_REDIS_URL": url]) { $1 }.merging(environment) { $1 }
    }

    func run(_ words: String..., input: String? = nil) async throws -> Outcome {
        try await run(words, input: input)
    }

    func run(_ words: [String], input: String? = nil) async throws -> Outcome {
        try await ChildProcess.run(
            Programs.path("respool"), words, environment: environment, folder: folder,
            input: input.map { .bytes(Array($0.utf8)) } ?? .none)
    }

    /// Runs it on a terminal of its own, where output and errors come together. (script(1))
    func runOnTerminal(_ words: [String], columns: Int = 100, input: String? = nil) async throws -> Outcome {
        try await startOnTerminal(words, columns: columns, input: input).wait()
    }

    func startOnTerminal(
        _ words: [String], columns: Int = 100, input: String? = nil
    ) async throws -> ChildProcess {
        let line = ([Programs.path("respool")] + words).map { "'\($0)'" }.joined(separator: " ")
        return try await ChildProcess(
            "script", ["--quiet", "--return", "--command", "stty cols \(columns) rows 30; \(line)", "/dev/null"],
            environment: environment.merging(["TERM": "xterm"]) { $1 }, folder: folder,
            input: input.map { .bytes(Array($0.utf8)) } ?? .none)
    }
}

extension ChildProcess {
    /// Waits until as many of its transcoders write to files in the folder, which have no names yet.
    func isConverting(_ count: Int, in folder: TemporaryFolder) async throws {
        func writes(_ child: String) -> Bool {
            let place = "/proc/\(child)/fd"
            let files = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            return files.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(place)/\($0)") }
                .contains { $0.hasPrefix(folder.path + "/") && !$0.hasSuffix(".wav") }
        }
        try await eventually("\(count) outputs are begun") {
            try await ChildProcess.run("pgrep", ["-P", "\(pid)", "-f", "respool-transcode"]).lines.count(where: writes)
                == count
        }
    }
}

extension Outcome {
    /// The lines of standard output.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
