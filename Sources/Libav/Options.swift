package import Bytes
import CLibav

/// Named options for libav; owns an `AVDictionary`.
package struct Options: ~Copyable {
    /// The dictionary. The libav call that reads it replaces it by the options that it did not recognize.
    package var pointer: OpaquePointer?

    /// Makes a dictionary of options by name. For a repeated name, the last value is used, and flags (`+name`) are added.
    package init(_ options: [(String, String)] = []) {
        for (name, value) in options {
            av_dict_set(&pointer, name, value, value.hasPrefix("+") ? AV_DICT_APPEND : 0)
        }
    }

    deinit {
        var pointer = pointer
        av_dict_free(&pointer)
    }

    /// Throws if an option was not recognized.
    package borrowing func checkAllTaken(_ operation: String) throws(MediaError) {
        guard let left = av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX) else { return }
        throw MediaError(
            .internal, operation, "libav has no option '\(String(cString: left.pointee.key))' to \(operation)")
    }
}
