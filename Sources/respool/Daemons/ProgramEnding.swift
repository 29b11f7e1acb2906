import Glibc

/// How a program ended, as waitpid(2) reports it.
struct ProgramEnding: Hashable, Sendable, CustomStringConvertible {
    private let status: CInt

    init(status: CInt) { self.status = status }

    /// The exit status; `nil` if a signal ended the program.
    var exitStatus: Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }

    var description: String { exitStatus.map { "exit status \($0)" } ?? "signal \(status & 0x7F)" }
}
