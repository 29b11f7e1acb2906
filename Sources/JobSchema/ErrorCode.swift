/// Every way in which a job can fail, for programs; the only table of errors.
package enum ErrorCode: String, CaseIterable, Codable, Sendable {
    case invalidRequest = "invalid_request"
    case invalidTimeRange = "invalid_time_range"
    case unsupportedFormat = "unsupported_format"
    case protectedContent = "protected_content"
    case corruptMedia = "corrupt_media"
    case noAudio = "no_audio"
    case sourceTruncated = "source_truncated"
    case sourceNotFound = "source_not_found"
    case sourceDenied = "source_denied"
    case policyDenied = "policy_denied"
    case outputDenied = "output_denied"
    case outputExists = "output_exists"
    case tooLarge = "too_large"
    case tooLong = "too_long"
    case expired
    case sourceUnreachable = "source_unreachable"
    case sourceTimeout = "source_timeout"
    case sourceChanged = "source_changed"
    case outputFailed = "output_failed"
    case outOfSpace = "out_of_space"
    case timeout
    case crashed
    case `internal`
    case cancelled

    /// Whether another attempt may succeed.
    ///
    /// `source_truncated` is permanent if the file itself is short; if the network broke, the failure overrides this.
    package var isRetryable: Bool {
        switch self {
        case .sourceUnreachable, .sourceTimeout, .sourceChanged, .outputFailed, .outOfSpace, .timeout, .crashed,
            .internal:
            true
        default: false
        }
    }

    /// The meaning of the code, for the documentation and for users.
    package var summary: String {
        switch self {
        case .invalidRequest: "a field is unknown, malformed, out of range or not supported yet"
        case .invalidTimeRange: "the range is empty or starts after the end of the source"
        case .unsupportedFormat: "the source's format is not recognized"
        case .protectedContent: "the source is encrypted (DRM)"
        case .corruptMedia: "the source is empty, or its format is recognized but it cannot be decoded"
        case .noAudio: "the source has no audio track"
        case .sourceTruncated: "the source is shorter than its declared length; retried only after a network error"
        case .sourceNotFound: "the source does not exist (404, 410, no such file)"
        case .sourceDenied: "the source's server denies access (401, 403)"
        case .policyDenied: "the source's address, path or kind is not allowed here"
        case .outputDenied:
            "the output's path is outside the output root or not writable, or the worker writes only to URLs"
        case .outputExists: "the output exists, and `overwrite` does not allow replacing it"
        case .tooLarge: "the source or the output exceeds a size limit"
        case .tooLong: "the source exceeds the duration limit"
        case .expired: "the job expired before it started, or did not finish before its deadline"
        case .sourceUnreachable:
            "the source's host has no allowed address, is unreachable, or responds with a server error"
        case .sourceTimeout: "the source's server is too slow"
        case .sourceChanged: "the source changed while it was being read"
        case .outputFailed: "the output could not be written"
        case .outOfSpace: "there is no space left for the spool or the output"
        case .timeout: "the attempt exceeded the job's timeout"
        case .crashed: "a process of the slot crashed or stopped responding, or the worker was lost"
        case .internal: "a fault in respool itself"
        case .cancelled: "the job was cancelled"
        }
    }
}
