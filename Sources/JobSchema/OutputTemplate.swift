import MediaTypes
import Text

/// Placeholders in the location of an output that are replaced by values of its job, as in `{group}/{stem}.{ext}`.
enum OutputTemplate {
    static let words = ["id", "name", "stem", "ext", "group", "n"]

    /// The maximum size of a value in bytes, so that a file name has room for more.
    private static let maxBytes = 150

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
            guard text.utf8.count + UTF8.width(scalar) <= maxBytes else { break }
            text.unicodeScalars.append(isPlain ? scalar : "_")
        }
        return text.first == "." ? "_" + text.dropFirst() : text
    }

    /// The name without its extension.
    static func stem(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
}

extension FieldReader {
    /// Throws if the location of an output has an unknown placeholder, or one without a value.
    func checkTemplate(_ output: String) throws(Failure) {
        for word in OutputTemplate.words(in: output) {
            guard OutputTemplate.words.contains(word) else {
                let known = OutputTemplate.words.map { "{\($0)}" }.joined(separator: " ")
                throw Self.invalid(
                    "`output` has the unknown template `{\(Self.shown(word))}`; the templates are \(known)")
            }
            if word == "group", fields["group"] == nil {
                throw Self.invalid(
                    "`output` has `{group}`, but the job has no `group`: give one, or remove the template")
            }
        }
    }
}

extension JobSpec {
    /// The location of the output with its placeholders replaced; `nil` for the default location.
    package func location(ofOutput index: Int, job id: String) -> String? {
        guard let output = destinations[index] else { return nil }
        let name = OutputTemplate.name(ofSource: sourceURL) ?? id
        let isServed = OutputPath.isServed(output)
        return OutputTemplate.filled(output) { word in
            let value: String? =
                switch word {
                case "id": id
                case "name": OutputTemplate.cleaned(name)
                // The extension of a name that is too long is cut off first.
                case "stem": OutputTemplate.cleaned(OutputTemplate.stem(of: name))
                case "ext": plan.renditions[index].fileExtension
                case "group": group
                case "n": String(index)
                default: nil
                }
            return isServed
                ? value.map { PercentEncoding.encoded($0, keeping: PercentEncoding.unreserved.contains) } : value
        }
    }
}
