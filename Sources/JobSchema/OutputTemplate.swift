import MediaTypes
import Text

/// Placeholders in the location of an output that are replaced by values of its job, as in `{group}/{stem}.{ext}`.
enum OutputTemplate {
    static let words = ["id", "name", "stem", "ext", "group", "n"]

    /// The maximum size of a component of a path in bytes. The corresponding C constant is `NAME_MAX`.
    private static let maxBytes = 255

    /// The words in braces in a text, known or not.
    static func words(in text: String) -> [String] {
        var found: [String] = []
        _ = filled(text) { word in
            found.append(word)
            return nil
        }
        return found
    }

    /// Replaces the placeholders by their values; one without a value is kept.
    static func filled(_ text: String, _ value: (String) -> String?) -> String {
        var result = ""
        var rest = text[...]
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[brace...]
            let word = rest.dropFirst().prefix { $0.isASCII && $0.isLetter }
            let isWord = !word.isEmpty && rest[word.endIndex...].first == "}"
            let end = isWord ? rest.index(after: word.endIndex) : rest.index(after: brace)
            result += isWord ? value(String(word)) ?? String(rest[..<end]) : "{"
            rest = rest[end...]
        }
        return result + rest
    }

    /// The last component of the source's path, decoded; `nil` if it is empty.
    static func name(ofSource source: String) -> String? {
        let isWeb = ServerURL.isOnWeb(source)
        let path = source.drop { $0 != ":" }.dropFirst(3).prefix { !isWeb || $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let last = path[path.index(after: slash)...]
        let name = OutputPath.isObject(source) ? String(last) : PercentEncoding.decoded(last) ?? String(last)
        return name.isEmpty ? nil : name
    }

    /// The value as a single path component that does not begin with a dot.
    static func cleaned(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            let isPlain = scalar != "/" && !scalar.isUnprintable
            text.unicodeScalars.append(isPlain ? scalar : "_")
        }
        return text.first == "." ? "_" + text.dropFirst() : text
    }

    /// The name without its extension.
    static func stem(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The values for one component of a path. The names in it are cut if the component, or a part that has its stem and
    /// `suffix` more bytes, would be too long; a cut name ends in `mark`.
    static func fitted(
        _ values: [String: String], to component: String, suffix: Int, mark: String
    ) -> [String: String] {
        let names = words(in: component).filter { ["name", "stem"].contains($0) }
        let whole = filled(component) { values[$0] }
        // A dot of the name may be cut off, so only another one ends the stem.
        let dotless = filled(component) { names.contains($0) ? values[$0]?.replacing(".", with: "_") : values[$0] }
        let excess = max(whole.utf8.count, OutputPath.partName(of: dotless, "").utf8.count + suffix) - maxBytes
        guard excess > 0, !names.isEmpty else { return values }
        let room = (names.reduce(0) { $0 + (values[$1]?.utf8.count ?? 0) } - excess) / names.count
        var values = values
        for name in Set(names) where values[name]!.utf8.count > room {
            values[name] = values[name]!.prefix(utf8Bytes: max(room - mark.utf8.count - 1, 0)) + "-" + mark
        }
        return values
    }
}

extension FieldReader {
    /// Why the location of an output has an unknown placeholder, or one without a value; `nil` if it has none.
    func templateFault(_ output: String) -> String? {
        for word in OutputTemplate.words(in: output) {
            guard OutputTemplate.words.contains(word) else {
                let known = OutputTemplate.words.map { "{\($0)}" }.joined(separator: " ")
                return "`output` has the unknown template `{\(Self.shown(word))}`; the templates are \(known)"
            }
            if word == "group", fields["group"] == nil {
                return "`output` has `{group}`, but the job has no `group`: give one, or remove the template"
            }
        }
        return nil
    }
}

extension JobSpec {
    /// The location of the output with its placeholders replaced; `nil` for the default location. A source's name that is too
    /// long for a file is cut, and ends in `mark` or else in the job's id.
    package func location(ofOutput index: Int, job id: String, mark: String? = nil) -> String? {
        guard let output = destinations[index] else { return nil }
        let rendition = plan.renditions[index]
        let name = OutputTemplate.name(ofSource: sourceURL) ?? id
        var values = ["id": id, "ext": rendition.fileExtension, "n": String(index)]
        values["name"] = OutputTemplate.cleaned(name)
        values["stem"] = OutputTemplate.cleaned(OutputTemplate.stem(of: name))
        values["group"] = group
        let isURL = OutputPath.isServed(output) || OutputPath.isFileURL(output)
        let components = output.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return components.indices.map { index in
            let suffix = index == components.indices.last ? rendition.partPatterns.map(\.maxBytes).max() ?? 0 : 0
            let fitted = OutputTemplate.fitted(values, to: components[index], suffix: suffix, mark: mark ?? id)
            return OutputTemplate.filled(components[index]) { word in
                isURL
                    ? fitted[word].map { PercentEncoding.encoded($0, keeping: PercentEncoding.unreserved.contains) }
                    : fitted[word]
            }
        }.joined(separator: "/")
    }
}
