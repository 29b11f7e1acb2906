import SlotIPC

/// Why a child could not be confined although the kernel supports it.
package struct SandboxError: Error, CustomStringConvertible {
    package let description: String

    init(_ part: SandboxPart, _ detail: String) { self.init("\(part.rawValue): \(detail)") }

    init(_ description: String) { self.description = description }
}
