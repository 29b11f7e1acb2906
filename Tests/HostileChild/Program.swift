import Attacks
import Glibc
import Sandbox

/// Does what a child of a slot would that was taken over: enters its walls, then tries an attack, and says what came of it.
///
/// Arguments: `transcode`, `transfer` or `free`; the attack; its target; the folder of a transfer's own.
@main struct Program {
    static func main() throws {
        let words = CommandLine.arguments
        let unconfined: [Any] =
            switch words[1] {
            case "transcode": try Confinement.enterTranscode()
            case "transfer": try Confinement.enterTransfer(reading: [], writing: [words[4]])
            default: []
            }
        let outcome = attack(words[2], words[3])
        print(outcome == 0 ? "succeeded" : outcome == -1 ? "refused: \(errno)" : "unknown", unconfined.count)
    }
}
