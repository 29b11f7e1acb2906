import CFuzzer
import Glibc
import Lifecycle

/// libFuzzer over the target that `FUZZ_TARGET` names, in the runs that it starts itself as well; without one it lists them.
@main
enum Program {
    static let targets: [(name: String, body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt)] = [
        ("conversion", { run($0, $1, MediaTarget.convert) }),
        ("job", { run($0, $1, TextTarget.job) }),
        ("message", { run($0, $1, MessageTarget.receive) }),
        ("playlist", { run($0, $1, PlaylistTarget.resolve) }),
        ("probe", { run($0, $1, MediaTarget.probe) }),
        ("reply", { run($0, $1, ReplyTarget.read) }),
        ("time", { run($0, $1, TextTarget.time) }),
    ]

    static func main() {
        let name = getenv("FUZZ_TARGET").map { String(cString: $0) }
        guard let target = targets.first(where: { $0.name == name }) else {
            return print(targets.map(\.name).joined(separator: "\n"))
        }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, target.body))
    }

    private static func run(
        _ start: UnsafePointer<UInt8>?, _ count: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> CInt {
        body(UnsafeRawBufferPointer(start: start, count: count))
        return 0
    }
}
