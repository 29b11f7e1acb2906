package import Bytes
import CLibav

/// Throws a negative libav return code as an error; returns other codes.
@discardableResult
package func check(
    _ code: CInt, _ operation: String, or reason: MediaError.Reason = .internal
) throws(MediaError) -> CInt {
    guard code >= 0 else { throw MediaError(reason, operation, code: .init(rawValue: code)) }
    return code
}

extension MediaError {
    /// Makes an error with libav's description of the code.
    package init(_ reason: Reason, _ operation: String, code: Code) {
        self.init(reason, operation, "could not \(operation): \(code)", code: code)
    }

    /// The error of a failed allocation.
    package static func outOfMemory(_ operation: String) -> MediaError {
        MediaError(.internal, operation, code: .noMemory)
    }

    /// The error of a conversion whose cancellation flag was raised.
    package static var stopped: MediaError {
        MediaError(.cancelled, "convert", "the conversion was cancelled", code: .exit)
    }
}
