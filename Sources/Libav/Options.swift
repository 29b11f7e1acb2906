package import Bytes
import CLibav

/// Named options on their way to libav; owns an `AVDictionary`.
package struct Options: ~Copyable {
    /// The dictionary, which the call that takes it replaces by what it did not understand.
    package var pointer: OpaquePointer?

    package init(_ options: [(String, String)] = []) {
        for (name, value) in options { av_dict_set(&pointer, name, value, 0) }
    }

    deinit {
        var pointer = pointer
        av_dict_free(&pointer)
    }

    /// Fails if an option is left that nobody took.
    package borrowing func checkAllTaken(_ operation: String) throws(MediaError) {
        guard let left = av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX) else { return }
        throw MediaError(
            .internal, operation, "libav knows no option '\(String(cString: left.pointee.key))' to \(operation)")
    }
}
