import Attacks
import FoundationEssentials
import Glibc
import Sandbox
import SlotIPC

/// Does what a child of a slot would that was taken over: enters its walls, then tries an attack, and says what came of it.
///
/// Arguments: `transcode`, `transfer`, `callbacks` or `free`; the attack; its target; the policy of a transfer, as JSON.
@main struct Program {
    static func main() throws {
        let words = CommandLine.arguments
        let policy = try JSONDecoder().decode(TransferPolicy.self, from: Data(words[4].utf8))
        let unconfined: [Any] =
            switch words[1] {
            case "transcode": try Confinement.enterTranscode()
            case "transfer": try Confinement.enterTransfer(policy)
            case "callbacks": try Confinement.enterPosting(policy)
            default: []
            }
        let outcome = attack(words[2], words[3])
        print(outcome == 0 ? "succeeded" : outcome == -1 ? "refused: \(errno)" : "unknown", unconfined.count)
    }
}
