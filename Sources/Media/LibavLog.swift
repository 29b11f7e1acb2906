/// The lines that libav logs, for the whole process.
package enum LibavLog {
    /// How bad a line is.
    package enum Level: Int, Sendable, Comparable {
        case fatal, error, warning

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Hands every line of a level or worse to a function, which libav's own threads may call too.
    package static func install(level: Level = .warning, _ handler: @escaping @Sendable (Level, String) -> Void) {}

    /// The last lines, oldest first, and forgets them.
    package static func takeLines() -> [String] { [] }
}
