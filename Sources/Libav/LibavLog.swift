import CLibav
import Synchronization

/// The lines that libav logs, for the whole process.
package enum LibavLog {
    /// How bad a line is.
    package enum Level: CInt, Sendable, Comparable {
        // libav's numbers, `AV_LOG_FATAL` and so on.
        case fatal = 8
        case error = 16
        case warning = 24

        /// Whether this one is less bad.
        package static func < (left: Level, right: Level) -> Bool { left.rawValue > right.rawValue }
    }

    /// Hands every line of a level or worse to a function, which libav's own threads may call too.
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

    /// A function alone would be wrapped once more each time that the lock's closure gets it, and never be unwrapped.
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
        // Whoever keeps libav from decoding pictures wants to hear nothing of it, with a page of names.
        guard !trimmed.isEmpty, !trimmed.contains("not on whitelist") else { return }
        let handler = handler.withLock { $0 }
        handler?.call(
            level <= Level.fatal.rawValue ? .fatal : level <= Level.error.rawValue ? .error : .warning, trimmed)
    }
}
