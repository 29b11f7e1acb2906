import Bytes
import Glibc
import JobSchema
import Lifecycle

extension Failure {
    /// Converts an error of a conversion to a failure with an error code.
    init(conversionError error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as MediaError: self = error.output.map { Self.of(error).of(output: $0) } ?? Self.of(error)
        case let error as Errno: self = Self.ofOutput(error)
        default: self.init(.internal, "\(error)")
        }
    }

    private static func of(_ error: MediaError) -> Failure {
        switch error.reason {
        case .unsupportedFormat: Failure(.unsupportedFormat, error.sentence)
        case .corruptMedia: Failure(.corruptMedia, error.sentence)
        case .noAudio: Failure(.noAudio, error.sentence)
        case .protectedContent: Failure(.protectedContent, error.sentence)
        case .tooLarge: Failure(.tooLarge, error.sentence)
        case .tooLong: Failure(.tooLong, error.sentence)
        case .truncated: Failure(.sourceTruncated, error.sentence)
        case .invalidTimeRange: Failure(.invalidTimeRange, error.sentence)
        case .invalidSettings: Failure(.invalidRequest, error.sentence)
        case .source(let error): Failure(conversionError: error)
        case .store(let error): Failure(conversionError: error)
        case .cancelled: Failure(.cancelled, error.sentence)
        case .internal: Failure(.internal, error.sentence)
        }
    }

    /// The failure of a write to the spool.
    static func ofSpool(_ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space left for the spool: \(error)")
        case EFBIG: Failure(.tooLarge, "the source's segments exceed the size limit: \(error)")
        default: Failure(.internal, "the spool cannot be written: \(error)")
        }
    }

    private static func ofOutput(_ error: Errno) -> Failure {
        switch error.rawValue {
        case ENOSPC, EDQUOT: Failure(.outOfSpace, "no space left for the output: \(error)")
        case EFBIG: Failure(.tooLarge, "the output exceeds the size limit: \(error)")
        default: Failure(.outputFailed, "the output cannot be written: \(error)")
        }
    }
}
