import CLibav

/// Turns a negative libav return code into a thrown error, and passes others through.
@discardableResult
func check(
    _ code: CInt, _ operation: String, or reason: MediaError.Reason = .internal
) throws(MediaError) -> CInt {
    guard code >= 0 else { throw MediaError(reason, operation, code: .init(rawValue: code)) }
    return code
}

extension MediaError {
    /// An error that says what failed in libav's own words.
    init(_ reason: Reason, _ operation: String, code: Code) {
        self.init(reason, operation, "could not \(operation): \(code)", code: code)
    }

    static func outOfMemory(_ operation: String) -> MediaError { MediaError(.internal, operation, code: .noMemory) }

    static var stopped: MediaError { MediaError(.cancelled, "convert", "the conversion was cancelled", code: .exit) }
}
