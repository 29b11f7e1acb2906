@preconcurrency import Dispatch
import Glibc

/// The process's signals, as a sequence.
package enum Signals {
    /// Delivers the signals as elements; every signal sent after this returns is delivered.
    ///
    /// Waits for the registration: a signal that arrives between resuming a source and its registration would still end
    /// the process by its default action.
    package static func stream(of numbers: [Int32]) async -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { @Sendable in continuation.yield(number) }
            await withCheckedContinuation { (registered: CheckedContinuation<Void, Never>) in
                source.setRegistrationHandler { @Sendable in registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        continuation.onTermination = { @Sendable [sources] _ in
            for source in sources { source.cancel() }
        }
        return stream
    }

    /// Whether the parent process set the signal to be ignored, as nohup(1) does.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        return sigaction(number, nil, &action) == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Makes a write to a closed pipe or socket return an error instead of ending the process.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
