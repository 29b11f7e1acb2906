import FoundationEssentials
import JobSchema

/// Reads jobs from a file: JSON Lines, or CSV with a header line. The first character determines the format.
struct BatchReader: ~Copyable {
    private var lines: LineReader
    private var form: Form = .unknown
    private let decoder = JSONDecoder()

    private enum Form {
        case unknown, json
        case table([String])
    }

    /// A job of the batch, and the number of its first line.
    struct Entry {
        let line: Int
        let fields: [String: String]
    }

    init(path: String) throws(CommandFailure) {
        lines = try LineReader(path: path)
    }

    /// The name of the batch for messages.
    var name: String { lines.name }

    /// The fraction of the file that has been read; `nil` if its size is unknown.
    var fraction: Double? { lines.size.map { $0 == 0 ? 1 : Double(lines.position) / Double($0) } }

    /// The next job; `nil` after the last one. Empty lines are skipped.
    mutating func next() throws(CommandFailure) -> Entry? {
        while let line = try lines.next() {
            if lines.number == 1, line.starts(with: [0xef, 0xbb, 0xbf]) {
                if let entry = try entry(line.dropFirst(3)) { return entry }
            } else if let entry = try entry(line) {
                return entry
            }
        }
        return nil
    }

    /// A usage error with the line number.
    func wrong(_ line: Int, _ message: String) -> CommandFailure { .usage("\(place(line)): \(message)") }

    /// The name of a line in messages.
    func place(_ line: Int) -> String { "\(name), line \(line)" }

    private mutating func entry(_ line: ArraySlice<UInt8>) throws(CommandFailure) -> Entry? {
        guard line.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return nil }
        switch form {
        case .json: return try object(line)
        case .table(let names): return try row(line, names)
        case .unknown: break
        }
        if line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) == UInt8(ascii: "{") {
            form = .json
            return try object(line)
        }
        let names = try cells(line)
        guard names.contains("source") else {
            throw wrong(
                lines.number,
                "give one JSON object per line, or CSV whose first line has the field names, with `source` among them")
        }
        form = .table(names)
        return nil
    }

    private func object(_ line: ArraySlice<UInt8>) throws(CommandFailure) -> Entry {
        if let fields = FlatObject.read(line) { return Entry(line: lines.number, fields: fields) }
        guard let object = try? decoder.decode([String: JSONValue].self, from: Data(line)) else {
            throw wrong(
                lines.number, "`\(Self.shown(line))` is not a JSON object: write {\"source\": …, \"format\": …}")
        }
        return Entry(line: lines.number, fields: object.compactMapValues(\.field))
    }

    private mutating func row(_ line: ArraySlice<UInt8>, _ names: [String]) throws(CommandFailure) -> Entry {
        let first = lines.number
        let cells = try cells(line)
        guard cells.count == names.count else {
            throw wrong(first, "\(cells.count) cells for \(names.count) fields: give as many, separated by commas")
        }
        let pairs = zip(names, cells).filter { !$1.isEmpty }
        return Entry(line: first, fields: Dictionary(pairs, uniquingKeysWith: { $1 }))
    }

    /// The cells of a record. It continues on the next line while a quote is open (RFC 4180).
    private mutating func cells(_ line: ArraySlice<UInt8>) throws(CommandFailure) -> [String] {
        let first = lines.number
        var record = CSVRow()
        record.append(line)
        while record.isOpen {
            guard let more = try lines.next() else { throw wrong(first, "a quote is not closed") }
            record.append([UInt8(ascii: "\n")] + more)
        }
        guard let cells = record.cells else { throw wrong(first, "the cells are not UTF-8 text") }
        return cells
    }

    private static func shown(_ line: ArraySlice<UInt8>) -> String {
        let text = String(decoding: line.prefix(60), as: UTF8.self)
        return TextLayout.printable(text) + (line.count > 60 ? "…" : "")
    }
}
