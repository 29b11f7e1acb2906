import Text

/// Functions for the location of an output as it is written in a job.
package enum OutputPath {
    /// The path's components without `.`, `..` and repeated slashes; `nil` if it leaves its start.
    package static func components(_ path: String) -> [String]? {
        var parts: [String] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." {
                guard parts.popLast() != nil else { return nil }
            } else {
                parts.append(String(part))
            }
        }
        return parts
    }

    /// Whether the text is the URL of a web server or file server, which accepts one file.
    package static func isServed(_ text: String) -> Bool { ServerURL.isOnWeb(text) || isOnFileServer(text) }

    /// Whether the text is the URL of a file server that does not use HTTP.
    package static func isOnFileServer(_ text: String) -> Bool {
        FileScheme(of: text).map { text.dropFirst($0.rawValue.count).hasPrefix("://") } ?? false
    }

    /// The path of the file in the URL of a file server; `nil` if there is none, or if the URL has other parts too.
    package static func fileOnServer(_ url: String) -> String? {
        // libcurl interprets `;type=` anywhere in a path, and the name becomes part of a protocol command.
        let path = url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? ""
        guard !path.contains(where: ";?#".contains), !name.lowercased().contains("%2f"),
            let path = PercentEncoding.decoded(path), let name = PercentEncoding.decoded(name),
            !["", ".", ".."].contains(name), !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return nil }
        return path
    }

    /// Whether the text is the URL of a local file.
    static func isFileURL(_ text: String) -> Bool { text.prefix(6).lowercased() == "file:/" }

    /// Whether the text is the URL of an object in a store.
    package static func isObject(_ text: String) -> Bool { text.prefix(5).lowercased() == "s3://" }

    /// The text without the parts of a URL that may be secret.
    package static func redacted(_ text: String) -> String {
        isServed(text) || text.hasPrefix("//") ? redactedURL(text) : text
    }

    /// The error for a path that leaves the output root.
    package static func outside(_ path: String) -> Failure {
        Failure(
            .outputDenied,
            "the output '\(FieldReader.shown(redacted(path)))' is outside the output root; give a path below it")
    }

    /// The name of an additional file of an output: the stem of its main file's name and a suffix.
    package static func partName(of name: String, _ suffix: String) -> String {
        let start = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
        let end = name[start...].lastIndex(of: ".").flatMap { $0 == start ? nil : $0 } ?? name.endIndex
        return name[..<end] + suffix
    }
}
