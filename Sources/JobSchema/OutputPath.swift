import Text

/// The path of an output as a job spells it.
package enum OutputPath {
    /// The path's components without `.`, `..` and doubled slashes; nothing if it climbs above its start.
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

    /// Whether the text is the URL of a server that takes one file as it is: of the web, or of files.
    package static func isServed(_ text: String) -> Bool { ServerURL.isOnWeb(text) || isOnFileServer(text) }

    /// Whether the text is the URL of a server that does not speak HTTP.
    package static func isOnFileServer(_ text: String) -> Bool {
        FileScheme(of: text).map { text.dropFirst($0.rawValue.count).hasPrefix("://") } ?? false
    }

    /// The path of the file that the URL of a file server names; nothing if it names none, or something else as well.
    package static func fileOnServer(_ url: String) -> String? {
        // libcurl knows `;type=` in any part of a path, and a name is a word of commands.
        let path = url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? ""
        guard !path.contains(where: ";?#".contains), !name.lowercased().contains("%2f"),
            let path = PercentEncoding.decoded(path), let name = PercentEncoding.decoded(name),
            !["", ".", ".."].contains(name), !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f })
        else { return nil }
        return path
    }

    /// Whether the text names an object of a store.
    package static func isObject(_ text: String) -> Bool { text.prefix(5).lowercased() == "s3://" }

    /// The text without what may be a secret in a URL.
    package static func redacted(_ text: String) -> String { isServed(text) ? redactedURL(text) : text }

    /// The refusal of a path that leaves the output root.
    package static func outside(_ path: String) -> Failure {
        Failure(
            .outputDenied, "the output '\(FieldReader.shown(path))' is outside the output root; give a path below it")
    }

    /// The name of a file beside an output: the stem of the output's and what follows it.
    package static func partName(of name: String, _ suffix: String) -> String {
        let start = name.lastIndex(of: "/").map { name.index(after: $0) } ?? name.startIndex
        let end = name[start...].lastIndex(of: ".").flatMap { $0 == start ? nil : $0 } ?? name.endIndex
        return name[..<end] + suffix
    }
}
