import Glibc
import JobSchema
import Lifecycle
import Text

/// Converts a typed source to a URL.
enum SourceAddress {
    /// The URL itself, or the file:// URL of a local path.
    static func url(_ text: String) throws(CommandFailure) -> String {
        isURL(text) ? text : "file://" + PercentEncoding.encoded(path: try absolutePath(text))
    }

    /// Whether the text begins with a scheme.
    static func isURL(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return !scheme.isEmpty && text.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }

    /// The text as typed, without the secrets of a URL.
    static func shown(_ text: String) -> String { isURL(text) ? redactedURL(text) : text }

    /// The absolute path. Symbolic links are not resolved, because another machine may read it.
    static func absolutePath(_ path: String) throws(CommandFailure) -> String {
        guard !path.isEmpty else { throw .usage("the path is empty: give a path or a URL") }
        if path.hasPrefix("/") { return normalized(path) }
        guard let folder = getcwd(nil, 0) else { throw .failed("the current folder does not exist: \(Errno.last)") }
        defer { free(folder) }
        return normalized(String(cString: folder) + "/" + path)
    }

    /// The path without `.` and double slashes. `..` is kept, because it depends on symbolic links.
    private static func normalized(_ path: String) -> String {
        "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    }

    /// The last component of a path or URL, decoded and printable.
    static func name(_ source: String) -> String {
        let path = shown(source).prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last.map(String.init) ?? source
        return TextLayout.printable(PercentEncoding.decoded(last) ?? last)
    }

    /// The path of a file:// URL; `nil` for others.
    static func path(ofFileURL url: String) -> String? {
        guard url.hasPrefix("file:///") else { return nil }
        return PercentEncoding.decoded(url.dropFirst("file://".count))
    }
}
