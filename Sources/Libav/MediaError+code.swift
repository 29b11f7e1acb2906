package import Bytes
import CLibav

extension MediaError.Code {
    /// The end of the file (`AVERROR_EOF`).
    package static var endOfFile: MediaError.Code { .init(rawValue: av_swift_error_eof) }
    static var exit: MediaError.Code { .init(rawValue: av_swift_error_exit) }
    /// The data violates its format. (AVERROR_INVALIDDATA)
    package static var invalidData: MediaError.Code { .init(rawValue: av_swift_error_invalid_data) }
    /// The codec needs more input before it returns output (`EAGAIN`).
    package static var again: MediaError.Code { .init(rawValue: av_swift_error(11)) }
    /// An allocation failed. (ENOMEM)
    package static var noMemory: MediaError.Code { .init(rawValue: av_swift_error(12)) }
    /// Whether libav does not implement what the data needs (`ENOSYS`, `AVERROR_PATCHWELCOME`, `AVERROR_EXPERIMENTAL`).
    package var isUnimplemented: Bool {
        [av_swift_error(ENOSYS), av_swift_error_patchwelcome, av_swift_error_experimental].contains(rawValue)
    }
}

extension MediaError.Code: CustomStringConvertible {
    /// The description of `av_strerror`. Old demuxers return -1 for any invalid data, which would be a missing permission.
    package var description: String {
        guard rawValue != -1 else { return Self.invalidData.description }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { text in
            av_strerror(rawValue, text.baseAddress, text.count)
            return String(cString: text.baseAddress!)
        }
    }
}
