/// The exit status and the output of a child.
package struct Outcome: Hashable, Sendable {
    package enum Termination: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    package let termination: Termination
    package let standardOutput: [UInt8]
    package let standardError: [UInt8]

    package var output: String { String(decoding: standardOutput, as: UTF8.self) }
    package var errors: String { String(decoding: standardError, as: UTF8.self) }

    /// The exit code; `nil` if the child was ended by a signal.
    package var exitCode: Int32? {
        if case .exited(let code) = termination { code } else { nil }
    }

    package var succeeded: Bool { exitCode == 0 }
}
