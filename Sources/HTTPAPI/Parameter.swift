import JobSchema

/// A parameter of a route, in its path or its query: the one description that requests are checked by and documented from.
struct Parameter: Sendable {
    let name: String
    let summary: String
    let form: Form

    /// The form of a value.
    enum Form: Sendable {
        /// The name of a queue, a group or a worker.
        case name
        /// The id of a job.
        case id
        case limitKey
        /// The id of an entry of a stream.
        case entry
        /// The name of a worker.
        case worker
        /// The id of an upload.
        case upload
        /// A position in a list: the fingerprint of its filters, and where it is.
        case cursor
        case word([String])
        case whole(ClosedRange<Int>)
        /// Any text up to a number of characters.
        case text(Int)
    }

    init(_ name: String, _ form: Form, _ summary: String) {
        self.name = name
        self.form = form
        self.summary = summary
    }

    /// Whether a text has the form.
    func accepts(_ text: String) -> Bool {
        switch form {
        case .name: KeyName.isValid(text)
        case .id: KeyName.isValid(text) && !text.utf8.contains { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
        case .limitKey: KeyName.isValid(text, atMost: 128, also: ":@")
        case .entry: Self.isEntry(text)
        case .worker: KeyName.isValid(text, atMost: 128, also: ":")
        case .upload: UploadFolder.isID(text)
        case .cursor: Self.isCursor(text)
        case .word(let words): words.contains(text)
        case .whole(let range):
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } && (Int(text).map(range.contains) ?? false)
        case .text(let count): (1...count).contains(text.unicodeScalars.count)
        }
    }

    /// The form in words, for messages.
    var expected: String {
        switch form {
        case .name: "1 to 64 of A-Z a-z 0-9 _ . -"
        case .id: "1 to 64 of A-Z a-z 0-9 -"
        case .limitKey: "1 to 128 of A-Z a-z 0-9 _ . : @ -"
        case .entry: "the id of an event, such as 1795200919001-0"
        case .worker: "1 to 128 of A-Z a-z 0-9 _ . : -"
        case .upload: "up_ and 32 hexadecimal digits"
        case .cursor: "`next` of another page"
        case .word(let words): "one of \(words.joined(separator: " "))"
        case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .text(let count): "1 to \(count) characters"
        }
    }

    var schema: JSONValue {
        switch form {
        case .name: ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"]
        case .id: ["type": "string", "pattern": "^[A-Za-z0-9-]{1,64}$"]
        case .limitKey: ["type": "string", "pattern": "^[A-Za-z0-9_.:@-]{1,128}$"]
        case .entry: ["type": "string", "pattern": "^[0-9]{1,18}-[0-9]{1,18}$"]
        case .worker: ["type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"]
        case .upload: ["type": "string", "pattern": "^up_[0-9a-f]{32}$"]
        case .cursor: ["type": "string", "pattern": "^[0-9a-f]{12}[.][A-Za-z0-9_.~+-]{1,900}$"]
        case .word(let words): Schema.word(words)
        case .whole(let range):
            [
                "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        case .text(let count): ["type": "string", "minLength": 1, "maxLength": .integer(Int64(count))]
        }
    }

    /// Whether a text is the id of an entry of a stream.
    static func isEntry(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2
            && parts.allSatisfy {
                (1...18).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    private static func isCursor(_ text: String) -> Bool {
        let place = text.utf8.dropFirst(13)
        return text.utf8.prefix(12).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            && text.utf8.dropFirst(12).first == UInt8(ascii: ".")
            && KeyName.isValid(String(decoding: place, as: UTF8.self), atMost: 900, also: "~+")
    }

    static let ticket = Parameter("ticket", .text(200), "a ticket for this output")

    static let queue = Parameter("queue", .name, "the queue; the server's first one if it is not given")
}
