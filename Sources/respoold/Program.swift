import Glibc
import Lifecycle

@main struct Program {
    static func main() async {
        exit(await Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs the command that the first argument names. All settings come from the environment.
    private nonisolated static func run(_ arguments: [String]) async -> ExitCode {
        switch arguments {
        case ["worker"]: return await WorkerCommand.run()
        case ["worker", "--check"]: return CheckCommand.run()
        case ["serve"]: return await ServeCommand.run()
        case ["--version"]:
            print("respoold \(respoolVersion)")
            return .success
        default:
            return usageError(
                "usage: respoold worker [--check] | serve | --version; the settings are in RESPOOL_* variables, and"
                    + " `respool worker --help` and `respool serve --help` list them")
        }
    }

    private nonisolated static func usageError(_ sentence: String) -> ExitCode {
        StandardError.write(sentence)
        return .usage
    }
}
