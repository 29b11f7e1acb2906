import CLibav
import Synchronization

/// libav's log, for the whole process.
package enum LibavLog {
    /// The severity of a line.
    package enum Level: CInt, Sendable, Comparable {
        // The values of `AV_LOG_FATAL` and so on.
        case fatal = 8
        case error = 16
        case warning = 24

        /// Whether this severity is lower.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue > right.rawValue }
    }

    /// Passes each line of at least a severity to a handler. libav's threads may also call it.
    package static func install(
        level: Level = .warning, _ handler: @escaping @Sendable (Level, String) -> Void = { _, _ in }
    ) {
        Self.handler.withLock { $0 = Handler(call: handler) }
        worst.store(level.rawValue, ordering: .relaxed)
        av_log_set_callback { object, level, format, arguments in
            guard let format, let arguments else { return }
            LibavLog.take(object, level, format, arguments)
        }
    }

    private static let worst = Atomic<CInt>(Level.warning.rawValue)
    private static let handler = Mutex<Handler?>(nil)

    /// A struct, because a bare function would be wrapped again each time that the lock's closure receives it, and never be
    /// unwrapped.
    private struct Handler {
        let call: @Sendable (Level, String) -> Void
    }

    private static func take(
        _ object: UnsafeMutableRawPointer?, _ level: CInt, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer
    ) {
        guard level <= worst.load(ordering: .relaxed) else { return }
        let line = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { text in
            var prefix: CInt = 1
            av_log_format_line2(object, level, format, arguments, text.baseAddress, CInt(text.count), &prefix)
            return String(cString: text.baseAddress!)
        }
        let trimmed = line.last == "\n" ? String(line.dropLast()) : line
        // Demuxers opened with a decoder whitelist log the whole whitelist for each picture that they may not decode.
        guard !trimmed.isEmpty, !trimmed.contains("not on whitelist") else { return }
        let handler = handler.withLock { $0 }
        handler?.call(
            level <= Level.fatal.rawValue ? .fatal : level <= Level.error.rawValue ? .error : .warning, trimmed)
    }
}
