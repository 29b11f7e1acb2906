import SlotIPC

/// An INI file with profiles, in the format of the AWS command line tools.
struct ProfileFile {
    private var sections: [String: [String: String]] = [:]

    /// The contents of the file; `nil` if it cannot be read.
    init?(path: String) {
        guard let text = KeyFile.text(path) else { return nil }
        self.init(text: text)
    }

    init(text: String) {
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let trimmed = Self.trimmed(line)
            if trimmed.isEmpty || trimmed.hasPrefix("#") || trimmed.hasPrefix(";") { continue }
            if trimmed.hasPrefix("["), let end = trimmed.firstIndex(of: "]") {
                section = Self.trimmed(trimmed[..<end].dropFirst())
            } else if let equals = trimmed.firstIndex(of: "="), line.first?.isWhitespace != true {
                let name = Self.trimmed(trimmed[..<equals]).lowercased()
                sections[section, default: [:]][name] = Self.trimmed(trimmed[equals...].dropFirst())
            }
        }
    }

    /// The settings of the section, with lowercase names.
    subscript(section: String) -> [String: String] { sections[section] ?? [:] }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
