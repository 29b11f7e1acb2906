import SlotIPC

/// Why a child cannot be confined although the kernel could.
package struct SandboxError: Error, CustomStringConvertible {
    package let description: String

    init(_ part: SandboxPart, _ detail: String) { self.init("\(part.rawValue): \(detail)") }

    init(_ description: String) { self.description = description }
}
