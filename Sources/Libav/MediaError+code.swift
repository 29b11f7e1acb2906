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
}

extension MediaError.Code: CustomStringConvertible {
    /// The description of `av_strerror`.
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { text in
            av_strerror(rawValue, text.baseAddress, text.count)
            return String(cString: text.baseAddress!)
        }
    }
}
