import Glibc
import Transfer

@main struct Program {
    static func main() {
        let code = TransferProgram.run(arguments: CommandLine.arguments)
        // On success, the function returns, so that a sanitizer can report leaks.
        if code != 0 { exit(code) }
    }
}
