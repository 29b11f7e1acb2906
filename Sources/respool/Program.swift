import Glibc

@main
struct Program {
    @MainActor static func main() async {
        let status = await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }
}
