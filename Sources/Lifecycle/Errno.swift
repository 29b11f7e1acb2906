import Glibc

/// The error number of a failed system call.
package struct Errno: RawRepresentable, Error, Hashable, Sendable {
    package let rawValue: CInt

    package init(rawValue: CInt) { self.rawValue = rawValue }

    /// The error of the last failed call on this thread.
    package static var last: Errno { Errno(rawValue: errno) }
}

extension Errno: CustomStringConvertible {
    /// The system's message for the error, from `strerror`.
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            strerror_r(rawValue, buffer.baseAddress!, buffer.count) == 0
                ? String(cString: buffer.baseAddress!) : "error \(rawValue)"
        }
    }
}
