import Glibc
import Transfer

@main struct Program {
    static func main() {
        let code = TransferProgram.run(arguments: CommandLine.arguments)
        // Success returns, so that whatever leaks is seen by a sanitizer.
        if code != 0 { exit(code) }
    }
}
