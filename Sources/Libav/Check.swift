package import Bytes
import CLibav

/// Turns a negative libav return code into a thrown error, and passes others through.
@discardableResult
package func check(
    _ code: CInt, _ operation: String, or reason: MediaError.Reason = .internal
) throws(MediaError) -> CInt {
    guard code >= 0 else { throw MediaError(reason, operation, code: .init(rawValue: code)) }
    return code
}

extension MediaError {
    /// An error that says what failed in libav's own words.
    package init(_ reason: Reason, _ operation: String, code: Code) {
        self.init(reason, operation, "could not \(operation): \(code)", code: code)
    }

    /// The failure of an allocation.
    package static func outOfMemory(_ operation: String) -> MediaError {
        MediaError(.internal, operation, code: .noMemory)
    }

    package static var stopped: MediaError {
        MediaError(.cancelled, "convert", "the conversion was cancelled", code: .exit)
    }
}
