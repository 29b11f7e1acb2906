import Glibc
import Lifecycle
import Slots
import Synchronization

/// Stops the current work on Ctrl-C before the process ends.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)

    private init() {}

    /// Calls the body on the first SIGINT, SIGTERM or SIGHUP after this call.
    static func calling(_ body: @escaping @Sendable () -> Void) async -> Interruption {
        let interruption = Interruption()
        let signals = await Signals.stream(of: [SIGINT, SIGTERM, SIGHUP])
        Task.detached {
            for await number in signals {
                let isFirst = interruption.received.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                if isFirst { body() }
            }
        }
        return interruption
    }

    /// Stops the session on a signal.
    static func stopping(_ session: PairSession) async -> Interruption {
        await calling { session.stop() }
    }

    /// Exits with the status that corresponds to the received signal, if there was one.
    func resolve() {
        guard let number = received.withLock({ $0 }) else { return }
        exit(128 + number)
    }
}
